"""A sample of the market with which a suite is compared: a CSV file of jobs, or of groups of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import ImportFailed, UsageError
from worksample.files.tables.cell_values import InvalidCell
from worksample.files.tables.number_columns import NumberColumns
from worksample.files.tables.table_reader import FaultyRow, open_table
from worksample.tasks.taxonomy import TAXONOMIES, categories

from .project_classes import WorkClass, work_class

COLUMNS = ("category", "dollars", "hours", "count")
HINT = "a table (.csv) with the column category and, if known, dollars, hours and count"
LARGEST = 64 << 20
"""Maximum size of a sample in bytes."""


@dataclass(frozen=True, slots=True)
class MarketRow:
    """A group of `count` jobs of one category. `dollars` and `hours` are the values of one such job, None if
    unknown.
    """

    category: str
    kind: WorkClass
    dollars: float | None
    hours: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Market:
    name: str
    rows: tuple[MarketRow, ...]

    @property
    def jobs(self) -> int:
        return sum(r.count for r in self.rows)


def read_market(path: Path) -> Market:
    """Read a sample. `category` is an id or a title of a taxonomy, or any other text.

    Raises UsageError, with line and column, for a file that is not a sample or has no lines.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise UsageError(f"{path} is not a file of at most {LARGEST >> 20} MiB", where="--market", next=HINT)
    try:
        with open_table(path) as opened:
            heads = {h.strip().lower(): h for h in reversed(opened.header)}
            if "category" not in heads:
                raise UsageError("the table has no column `category`", where=f"{path}, line 1", next=HINT)
            columns = {heads[name]: name == "dollars" for name in COLUMNS[1:] if name in heads}
            numbers = NumberColumns().with_rows(columns, opened.rows)
        with open_table(path) as opened:
            rows = tuple(_row(row, heads, numbers, f"{path}, line {line}") for line, row in opened.rows)
    except ImportFailed as fault:
        raise UsageError(f"the file is not a table: {fault.what}", where=str(path), next=HINT) from fault
    if not rows:
        raise UsageError("the table has no line below the header", where=str(path), next=HINT)
    return Market(path.stem, rows)


def _row(row: Mapping[str, Any], heads: Mapping[str, str], numbers: NumberColumns, where: str) -> MarketRow:
    if isinstance(row, FaultyRow):
        raise UsageError(row.what, where=where, next=HINT)
    text = str(row.get(heads["category"]) or "").strip()
    if not text:
        raise UsageError("the row has no category", where=where, next=HINT)
    category = _known_column(text)
    found = {name: _number(row, heads[name], numbers, where) for name in COLUMNS[1:] if name in heads}
    count = found.get("count")
    if count is not None and (count != int(count) or count < 1):
        raise UsageError(
            f"the count {count:g} is not a whole number above 0",
            where=where,
            next="write the number of jobs in this row",
        )
    return MarketRow(
        category, work_class(category), found.get("dollars"), found.get("hours"), 1 if count is None else int(count)
    )


def _number(row: Mapping[str, Any], column: str, numbers: NumberColumns, where: str) -> float | None:
    if row.get(column) is None or not str(row[column]).strip():
        return None
    try:
        return float(numbers.read(column, row[column]))
    except InvalidCell as fault:
        raise UsageError(str(fault), where=f"{where}, column {column}", next="an amount of 0 or more") from None


def _known_column(text: str) -> str:
    wanted = text.casefold()
    for name in TAXONOMIES:
        for category in categories(name):
            if wanted in (category.id, category.title.casefold()):
                return category.id
    return text
