"""A table of finished work: CSV, JSON lines or Parquet, a row for each piece, read and checked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from worksample.errors import FaultyRows, ImportFailed
from worksample.files.tables.cell_values import Unfit
from worksample.files.tables.number_columns import NumberColumns
from worksample.files.tables.table_reader import FaultyRow, open_table
from worksample.records import Origin, Reported

from .finished_work import WorkOrigin

FORMS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
FORM = "save it as a .csv in UTF-8, a .jsonl or a .parquet (docs/grading.md)"

NUMBERS = ("repeat", "minutes", "cost")
MOST = 100_000
"""Rows of one table."""


def _known(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip() in ("", "unknown") else value


def _first(value: Any) -> Any:
    known = _known(value)
    return 1 if known is None else known


Amount = Annotated[float | None, BeforeValidator(_known), Field(default=None, ge=0, allow_inf_nan=False)]
Text = Annotated[str | None, BeforeValidator(_known)]


class WorkRow(BaseModel):
    """A piece of work. Empty and `unknown` mean that it is not known, which is never counted as 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str = Field(min_length=1)
    """The task package's folder, relative to the table."""
    path: str = Field(min_length=1)
    """A folder or a ZIP archive with the deliverables, relative to the table."""
    instance: Text = None
    """Its instance; needed where the task has several."""
    agent: Text = None
    """Who made it: an agent elsewhere ..."""
    person: Text = None
    """... or a person."""
    repeat: Annotated[int, BeforeValidator(_first)] = Field(default=1, ge=1)
    """Which of several independent pieces by one entrant on one instance."""
    minutes: Amount
    cost: Amount
    """US dollars."""
    date: Annotated[datetime | None, BeforeValidator(_known)] = None
    """When it was done, ISO 8601; without a zone UTC; by default now."""

    @model_validator(mode="after")
    def _one_made_it(self) -> Self:
        if (self.agent is None) == (self.person is None):
            raise ValueError("name an agent or a person, one of them")
        return self

    @property
    def made(self) -> WorkOrigin:
        """Who made it, when, and what it took."""
        at = self.date if self.date is None or self.date.tzinfo else self.date.replace(tzinfo=UTC)
        origin = Origin.EXTERNAL if self.agent else Origin.PERSON
        reported = Reported(cost=self.cost, minutes=self.minutes)
        return WorkOrigin(self.agent or self.person or "", origin, self.repeat, at, reported)


def read_work(table: Path, *, encoding: str = "", decimal: str = "") -> list[WorkRow]:
    """The rows of a `.csv`, `.tsv`, `.json`, `.jsonl` or `.parquet` file. FaultyRows names every row that is wrong.

    encoding, decimal: as for a table of jobs. Raises ImportFailed, which FaultyRows is, and UsageError.
    """
    if table.is_dir() or table.suffix.lower() not in FORMS:
        raise ImportFailed("a table of work ends in .csv, .jsonl or .parquet", where=str(table), next=FORM)
    with open_table(table, encoding) as opened:
        numbers = {name: name == "cost" for name in NUMBERS if name in opened.header}
        columns = NumberColumns(decimal).seen(numbers, opened.rows)
    rows, faults, count = [], {}, 0
    with open_table(table, encoding) as opened:
        for count, (_, row) in enumerate(opened.rows, 1):
            if count > MOST:
                break
            try:
                rows.append(_row(row, columns))
            except ValidationError as error:
                faults[f"row {count}"] = "; ".join(_told(one) for one in error.errors())
            except Unfit as error:
                faults[f"row {count}"] = str(error)
    if not 0 < count <= MOST:
        raise ImportFailed(
            f"the table has {'no' if not count else f'more than {MOST:,}'} rows; 1 to {MOST:,} are read",
            where=str(table),
            next="split it into several tables" if count else "write a row for each piece of work (docs/grading.md)",
        )
    if faults:
        raise FaultyRows(faults, where=str(table), rows=count)
    return rows


def _row(row: dict[str, Any], columns: NumberColumns) -> WorkRow:
    if isinstance(row, FaultyRow):
        raise Unfit(row.what)
    plain: dict[str, Any] = {}
    for name, cell in row.items():
        if cell is None or _known(cell) is None:
            continue
        if name not in NUMBERS:
            plain[name] = cell if isinstance(cell, datetime) else str(cell)
            continue
        try:
            plain[name] = columns.read(name, cell, whole=name == "repeat")
        except Unfit as error:
            raise Unfit(f"{name}: {error}") from None
    return WorkRow.model_validate(plain)


def _told(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    said = str(error["msg"]).removeprefix("Value error, ")
    return f"{where}: {said}" if where else said
