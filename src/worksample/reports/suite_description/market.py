"""A sample of the market to hold a suite against: a CSV of jobs, or of groups of jobs."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import UsageError
from worksample.taxonomy import TAXONOMIES, categories

from .work_classes import WorkClass, work_class

COLUMNS = ("category", "dollars", "hours", "count")
HINT = "a CSV with the column category and, where known, dollars, hours and count"
LARGEST = 64 << 20
"""Bytes of a sample."""


@dataclass(frozen=True, slots=True)
class MarketRow:
    """`count` jobs of one category; `dollars` and `hours` are those of one such job, None where not known."""

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
    """Read a sample. `category` is an id or a title of a taxonomy, or any text, which then stands for itself.

    Errors: UsageError that names line and column, for a file that is none, or has no line.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise UsageError(f"{path} is not a file of at most {LARGEST >> 20} MiB", where="--market", next=HINT)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            heads = [(h or "").strip().lower() for h in reader.fieldnames or ()]
            if "category" not in heads:
                raise UsageError("no column category", where=f"{path}, line 1", next=HINT)
            reader.fieldnames = heads
            rows = tuple(_row(line, f"{path}, line {reader.line_num}") for line in reader)
    except (UnicodeDecodeError, csv.Error) as fault:
        raise UsageError(f"not a CSV in UTF-8: {fault}", where=str(path), next=HINT) from fault
    if not rows:
        raise UsageError("no line below the head", where=str(path), next=HINT)
    return Market(path.stem, rows)


def _row(line: Mapping[str | None, object], where: str) -> MarketRow:
    text = str(line.get("category") or "").strip()
    if not text:
        raise UsageError("no category", where=where, next=HINT)
    category = _known(text)
    count = _number(line, "count", where)
    if count is not None and (count != int(count) or count < 1):
        raise UsageError(f"a count of {count:g}", where=where, next="a whole number of jobs, 1 or more")
    dollars, hours = _number(line, "dollars", where), _number(line, "hours", where)
    return MarketRow(category, work_class(category), dollars, hours, 1 if count is None else int(count))


def _number(line: Mapping[str | None, object], column: str, where: str) -> float | None:
    text = str(line.get(column) or "").strip().lstrip("$").replace(",", "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise UsageError(f"{line[column]!r} is not an amount", where=f"{where}, column {column}", next="0 or more")
    return number


def _known(text: str) -> str:
    wanted = text.casefold()
    for name in TAXONOMIES:
        for category in categories(name):
            if wanted in (category.id, category.title.casefold()):
                return category.id
    return text
