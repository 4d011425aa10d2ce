"""A table of finished work: CSV, JSON lines or Parquet, a row for each piece, read and checked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from worksample.errors import FaultyRows, ImportFailed
from worksample.records import Origin, Reported

from .finished_work import Made

FORM = "save it as a .csv in UTF-8, a .jsonl or a .parquet (docs/grading.md)"

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
    def made(self) -> Made:
        """Who made it, when, and what it took."""
        at = self.date if self.date is None or self.date.tzinfo else self.date.replace(tzinfo=UTC)
        origin = Origin.EXTERNAL if self.agent else Origin.PERSON
        reported = Reported(cost=self.cost, minutes=self.minutes)
        return Made(self.agent or self.person or "", origin, self.repeat, at, reported)


def read_work(table: Path) -> list[WorkRow]:
    """The rows of a `.csv`, `.jsonl` or `.parquet` file. ImportFailed; FaultyRows names every row that is wrong."""
    frame = _frame(table)
    if not 0 < frame.height <= MOST:
        raise ImportFailed(
            f"the table has {frame.height} rows; 1 to {MOST} are read",
            where=str(table),
            next="split it into several tables",
        )
    rows, faults = [], {}
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        try:
            rows.append(WorkRow.model_validate({key: value for key, value in row.items() if value is not None}))
        except ValidationError as error:
            faults[f"row {number}"] = "; ".join(_told(one) for one in error.errors())
    if faults:
        raise FaultyRows(faults)
    return rows


def _told(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    said = str(error["msg"]).removeprefix("Value error, ")
    return f"{where}: {said}" if where else said


def _frame(table: Path) -> pl.DataFrame:
    try:
        if table.suffix == ".csv":
            return pl.read_csv(table, infer_schema=False)
        if table.suffix == ".jsonl":
            return pl.read_ndjson(table, infer_schema_length=None)
        if table.suffix == ".parquet":
            return pl.read_parquet(table)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise ImportFailed(f"cannot be read: {str(error)[:300]}", where=str(table), next=FORM) from error
    raise ImportFailed("a table of work ends in .csv, .jsonl or .parquet", where=str(table), next=FORM)
