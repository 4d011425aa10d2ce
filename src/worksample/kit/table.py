"""Tables: CSV files of any common dialect, within limits."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.files.tables.delimited import (
    SAMPLE,
    BrokenText,
    CsvDialect,
    DelimitedRow,
    TableFault,
    header_of,
    records,
    sniff,
)
from worksample.files.tables.numbers import ColumnMarks

from .numbers import NumberCell, is_unclear
from .source import Fields, FileOwner, UnreadableSource
from .text import read_text

Row = dict[str, Any]

CSV_LIMIT = 32 << 20
"""Maximum size of a CSV file in bytes."""
ROW_LIMIT = 200_000
CELL_LIMIT = 1_000_000
"""Maximum number of cells of one table. Exceeding it is the deliverable's fault; running out of memory would be the
grader's.
"""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in order, and rows by column name. Blank rows are left out; missing cells of short rows are None."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    owner: FileOwner | None = field(default=None, compare=False)
    """The owner of the file, whose error is raised if a missing column is read."""

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """Return all values of one column. If it is missing, raises the owner's fault, or UnreadableSource without an
        owner.
        """
        if name not in self.columns:
            if self.owner is not None:
                raise self.owner.lacks(name, self.columns)
            raise UnreadableSource(f"has no column {name!r}; it has {', '.join(self.columns)}")
        return [row[name] for row in self.rows]

    def with_owner(self, owner: FileOwner) -> Table:
        """Return the same table with an owner."""
        return Table(self.columns, tuple(Fields(row, owner) for row in self.rows), owner)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Build a table from mappings; its columns are all their keys in order of appearance."""
        found = [dict(row) for row in rows]
        columns = tuple(dict.fromkeys(k for row in found for k in row))
        made: list[Row] = [{c: row.get(c) for c in columns} for row in found]
        decide_numbers(columns, made)
        return cls(columns, tuple(made))


def table_of(cells: Iterable[list[Any]]) -> Table:
    """Build a table from lines of cells; the first line that is not blank is the header.

    An ambiguous number (`1.200`) is read as the other cells of its column suggest. Raises UnreadableSource for a
    missing header, a title in its place, a duplicate name, cells beyond the header, or more than `ROW_LIMIT` rows.
    """
    told = (DelimitedRow(n, line) for n, line in enumerate(cells, 1))
    try:
        header, below = header_of(told)
        rows: list[Row] = []
        for record in below:
            if len(rows) >= ROW_LIMIT or (len(rows) + 1) * len(header.names) > CELL_LIMIT:
                raise UnreadableSource(f"has more than {ROW_LIMIT:,} rows or {CELL_LIMIT:,} cells")
            try:
                rows.append(header.row(record))
            except TableFault as fault:
                raise UnreadableSource(f"row {len(rows) + 1} {fault.what}") from fault
    except TableFault as fault:
        raise UnreadableSource(f"is not CSV: {fault.what}" if isinstance(fault, BrokenText) else fault.what) from fault
    decide_numbers(header.named, rows)
    return Table(header.named, tuple(rows))


def decide_numbers(columns: Iterable[str], rows: Sequence[Row]) -> None:
    """Mark the ambiguous numbers of each column with the decimal mark that its other cells suggest, if they do."""
    for column in columns:
        unclear = [row for row in rows if is_unclear(row[column])]
        if not unclear:
            continue
        marks = ColumnMarks()
        for row in rows:
            if isinstance(row[column], str):
                marks.see(row[column])
        for row in unclear if marks.decimal else ():
            row[column] = NumberCell(row[column], marks.decimal)


def parse_csv(text: str, delimiter: str | None = None) -> Table:
    """Parse a CSV text; the delimiter is detected among `,;` tab `|` unless given. Raises UnreadableSource as
    `table_of`.
    """
    dialect = sniff(text[:SAMPLE], whole=len(text) <= SAMPLE, separator=delimiter or "")
    if not delimiter and not dialect.sep_line and _has_one_name(text, dialect):
        dialect = CsvDialect()
    return table_of(record.cells for record in records(io.StringIO(text, newline=""), dialect))


def _has_one_name(text: str, dialect: CsvDialect) -> bool:
    """Return whether the header is a single name: then delimiters below it belong to the texts of a single column."""
    try:
        first = next((record for record in records(io.StringIO(text, newline=""), dialect) if not record.blank), None)
    except TableFault:
        return False
    return first is not None and len(first.cells) == 1


def read_csv(path: Path, delimiter: str | None = None, limit: int = CSV_LIMIT) -> Table:
    """Read a CSV file. Raises UnreadableSource as `parse_csv`, or over `limit` bytes."""
    return parse_csv(read_text(path, limit), delimiter)
