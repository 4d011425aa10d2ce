"""Reader of tables of finished work: CSV, JSON lines or Parquet. Each row describes one submission to hand in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from worksample.errors import FaultyRows, ImportFailed
from worksample.files.tables.cell_values import InvalidCell, UnknownCell, text
from worksample.files.tables.date_columns import DateColumns
from worksample.files.tables.number_columns import NumberColumns
from worksample.files.tables.table_reader import FaultyRow, open_table
from worksample.records import Origin, Reported

from .finished_work import WorkOrigin

FORMS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".xlsm")
FORM = "save it as a .csv in UTF-8, an .xlsx, a .jsonl or a .parquet (docs/how-to/run-an-experiment.md)"

NUMBERS = ("repeat", "minutes", "cost")
MOST = 100_000
"""Maximum number of rows that a table of finished work may have."""


def _none_if_unknown(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip() in ("", "unknown") else value


def _one_if_unknown(value: Any) -> Any:
    known = _none_if_unknown(value)
    return 1 if known is None else known


Amount = Annotated[float | None, BeforeValidator(_none_if_unknown), Field(default=None, ge=0, allow_inf_nan=False)]
Text = Annotated[str | None, BeforeValidator(_none_if_unknown)]


class WorkRow(BaseModel):
    """Row of a table of finished work. An empty cell or `unknown` means that the value is unknown. An unknown value
    never counts as 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str = Field(min_length=1)
    """Folder of the task package, relative to the table's folder."""
    path: str = Field(min_length=1)
    """Folder or ZIP archive with the deliverables, relative to the table's folder."""
    instance: Text = None
    """Name of the instance; required if the task has several instances."""
    agent: Text = None
    """Name of the outside agent that made the work. A row has either `agent` or `person`."""
    person: Text = None
    """Name of the person who made the work. A row has either `person` or `agent`."""
    repeat: Annotated[int, BeforeValidator(_one_if_unknown)] = Field(default=1, ge=1)
    """Number that distinguishes several submissions of one entrant for one instance, from 1."""
    minutes: Amount
    cost: Amount
    """Cost of the work in US dollars."""
    date: Annotated[datetime | None, BeforeValidator(_none_if_unknown)] = None
    """Time at which the work was done. A time without a time zone is in UTC. The default is the present time."""

    @model_validator(mode="after")
    def _one_made_it(self) -> Self:
        if (self.agent is None) == (self.person is None):
            raise ValueError("name either an agent or a person")
        return self

    @property
    def origin(self) -> WorkOrigin:
        """Return the author, the date and the usage of the work."""
        at = self.date if self.date is None or self.date.tzinfo else self.date.replace(tzinfo=UTC)
        origin = Origin.EXTERNAL if self.agent else Origin.PERSON
        reported = Reported(cost=self.cost, minutes=self.minutes)
        return WorkOrigin(self.agent or self.person or "", origin, self.repeat, at, reported)


def read_work(table: Path, *, encoding: str = "", decimal: str = "", dates: str = "", sheet: str = "") -> list[WorkRow]:
    """Read the rows of a `.csv`, `.tsv`, `.xlsx`, `.json`, `.jsonl` or `.parquet` file.

    `encoding` is the encoding of a CSV; "" means UTF-8 or an encoding detected from the first bytes. `decimal` is the
    decimal mark; "" means that it is detected for each column. `dates` is the order of day, month and year (such as
    `DMY`); "" means that it is detected for each column. `sheet` is the name of a workbook's sheet. Raises FaultyRows,
    which names every wrong row. Raises ImportFailed, the base class of FaultyRows, if the file cannot be read. Raises
    UsageError if an argument is invalid.
    """
    if table.is_dir() or table.suffix.lower() not in FORMS:
        raise ImportFailed(
            "the name of a table of work must end in .csv, .jsonl or .parquet", where=str(table), next=FORM
        )
    with open_table(table, encoding, sheet) as opened:
        numbers = {name: name == "cost" for name in NUMBERS if name in opened.header}
        columns = _Forms(NumberColumns(decimal).with_columns(numbers), DateColumns(dates).with_columns(("date",)))
        for line, row in opened.rows:
            columns.numbers.see(line, row)
            columns.dates.see(line, row)
    rows, faults, count = [], {}, 0
    with open_table(table, encoding, sheet) as opened:
        for count, (_, row) in enumerate(opened.rows, 1):
            if count > MOST:
                break
            try:
                rows.append(_row(row, columns))
            except ValidationError as error:
                faults[f"row {count}"] = "; ".join(_explain(one) for one in error.errors())
            except InvalidCell as error:
                faults[f"row {count}"] = str(error)
    if not 0 < count <= MOST:
        raise ImportFailed(
            f"the table has {'no' if not count else f'more than {MOST:,}'} rows; it must have 1 to {MOST:,}",
            where=str(table),
            next="split it into several tables"
            if count
            else "write a row for each piece of work (docs/how-to/run-an-experiment.md)",
        )
    if faults:
        raise FaultyRows(faults, where=str(table), rows=count)
    return rows


@dataclass(frozen=True, slots=True)
class _Forms:
    """Number format and date format of each column of a table."""

    numbers: NumberColumns
    dates: DateColumns


def _row(row: dict[str, Any], columns: _Forms) -> WorkRow:
    if isinstance(row, FaultyRow):
        raise InvalidCell(row.what)
    plain: dict[str, Any] = {}
    for name, cell in row.items():
        if cell is None or _none_if_unknown(cell) is None:
            continue
        if name not in (*NUMBERS, "date"):
            plain[name] = text(cell) if isinstance(cell, UnknownCell) else str(cell)
            continue
        try:
            if name == "date":
                plain[name] = columns.dates.read(name, cell)
            else:
                plain[name] = columns.numbers.read(name, cell, whole=name == "repeat")
        except InvalidCell as error:
            raise InvalidCell(f"{name}: {error}") from None
    return WorkRow.model_validate(plain)


def _explain(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    said = str(error["msg"]).removeprefix("Value error, ")
    return f"{where}: {said}" if where else said
