"""Tables: CSV files of any common dialect, within limits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .source import Fields, Owner, Unreadable
from .text import read_text

Row = dict[str, Any]

CSV_LIMIT = 32 << 20
"""Bytes of a CSV file that are read."""
ROW_LIMIT = 200_000
COLUMN_LIMIT = 4_096
CELL_LIMIT = 1_000_000
"""Cells of one table. A limit is the deliverable's fault; the grader's memory, met later, would be ours."""
FIELD_LIMIT = 1 << 20
"""Characters of one field."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in their order, and rows by column name. Blank rows are left out, short rows end in None."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    owner: Owner | None = field(default=None, compare=False)
    """Whose file it was; a column that it lacks, asked for here or in a row, is then its fault."""

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """All values of one column. The owner's fault where it is missing, Unreadable where there is no owner."""
        if name not in self.columns:
            if self.owner is not None:
                raise self.owner.lacks(name, self.columns)
            raise Unreadable(f"has no column {name!r}; it has {', '.join(self.columns)}")
        return [row[name] for row in self.rows]

    def owned(self, owner: Owner) -> Table:
        """The same table, as the content of someone's file."""
        return Table(self.columns, tuple(Fields(row, owner) for row in self.rows), owner)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """A table from mappings; its columns are all their keys in order of appearance."""
        found = [dict(row) for row in rows]
        columns = tuple(dict.fromkeys(k for row in found for k in row))
        return cls(columns, tuple({c: row.get(c) for c in columns} for row in found))


def table_of(cells: Iterable[list[Any]]) -> Table:
    """A table from lines of cells, the first line that is not blank being the header.

    Unreadable: no header, more than `ROW_LIMIT` rows, a name twice, or a row with cells beyond the header's.
    """
    lines = (line for line in cells if any(c is not None and str(c).strip() for c in line))
    header = next(lines, None)
    if header is None:
        raise Unreadable("is empty: it has no header")
    names = ["" if c is None else " ".join(str(c).split()) for c in header]
    while names and not names[-1]:
        names.pop()
    if len(names) > COLUMN_LIMIT:
        raise Unreadable(f"has more than {COLUMN_LIMIT} columns")
    named = [n for n in names if n]
    if len(set(named)) != len(named):
        raise Unreadable(f"has the column {next(n for n in named if named.count(n) > 1)!r} twice")
    rows: list[Row] = []
    for line in lines:
        if len(rows) >= ROW_LIMIT or (len(rows) + 1) * len(names) > CELL_LIMIT:
            raise Unreadable(f"has more than {ROW_LIMIT:,} rows or {CELL_LIMIT:,} cells")
        beyond = [c for c in line[len(names) :] if c is not None and str(c).strip()]
        if beyond:
            raise Unreadable(f"row {len(rows) + 1} has more cells than the header ({len(names)})")
        padded = [*line[: len(names)], *([None] * (len(names) - len(line)))]
        rows.append({n: v for n, v in zip(names, padded, strict=True) if n})
    return Table(tuple(named), tuple(rows))


def _dialect(sample: str) -> str:
    """The delimiter that splits the first lines into the most columns, equally often; a comma where none does."""
    best, most = ",", 1
    for mark in (",", ";", "\t", "|"):
        try:
            lines = [len(r) for r in csv.reader(io.StringIO(sample), delimiter=mark) if r]
        except csv.Error:
            continue
        lines = lines[:-1] if len(lines) > 20 else lines
        width = min(lines, default=1)
        if width > most and lines.count(lines[0]) >= 0.8 * len(lines):
            best, most = mark, width
    return best


def parse_csv(text: str, delimiter: str | None = None) -> Table:
    """A CSV text as a table; the delimiter is found among `,;` tab `|` unless given. Unreadable as `table_of`."""
    mark = delimiter or _dialect("".join(text[:65_536].splitlines(keepends=True)[:40]))
    before = csv.field_size_limit(FIELD_LIMIT)
    try:
        return table_of(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        raise Unreadable(f"is not CSV: {error}") from error
    finally:
        csv.field_size_limit(before)


def read_csv(path: Path, delimiter: str | None = None, limit: int = CSV_LIMIT) -> Table:
    """A CSV file as a table. Unreadable as `parse_csv`, or over `limit` bytes."""
    return parse_csv(read_text(path, limit), delimiter)


def read_table(path: Path, sheet: str | int | None = None) -> Table:
    """A sheet of a workbook (the first where none is named), else CSV. Unreadable as either reader."""
    if sheet is not None or path.suffix.lower() in (".xlsx", ".xlsm"):
        from . import workbook

        return workbook.read_sheet(path, 0 if sheet is None else sheet)
    return read_csv(path, "\t" if path.suffix.lower() == ".tsv" else None)
