"""Tables, and a reader of CSV files of any common dialect, with limits on the size."""

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
"""Maximum number of cells of one table. A larger table is the agent's fault. Without this limit, the grader could run
out of memory, which would count as the grader's fault.
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: column names in order, and rows as dicts by column name. Blank rows are left out. Missing cells of short
    rows are None.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    owner: FileOwner | None = field(default=None, compare=False)
    """The owner of the file. Reading a missing column raises the owner's error."""

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """Return all values of one column. If the column is missing, raises the error of the file's owner, or
        UnreadableSource if the table has no owner.
        """
        if name not in self.columns:
            if self.owner is not None:
                raise self.owner.lacks(name, self.columns)
            raise UnreadableSource(f"has no column {name!r}; it has {', '.join(self.columns)}")
        return [row[name] for row in self.rows]

    def with_owner(self, owner: FileOwner) -> Table:
        """Return a copy of the table with the given owner."""
        return Table(self.columns, tuple(Fields(row, owner) for row in self.rows), owner)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Build a table from mappings. The columns are all keys of the mappings, in order of first appearance."""
        found = [dict(row) for row in rows]
        columns = tuple(dict.fromkeys(k for row in found for k in row))
        made: list[Row] = [{c: row.get(c) for c in columns} for row in found]
        decide_numbers(columns, made)
        return cls(columns, tuple(made))


def table_of(cells: Iterable[list[Any]]) -> Table:
    """Build a table from rows of cells. The first row that is not blank is the header.

    An ambiguous number such as `1.200` is read as the other cells of its column suggest. Raises UnreadableSource if the
    header is missing, a title stands in its place, a column name occurs twice, a row has more cells than the header, or
    the table exceeds `ROW_LIMIT` or `CELL_LIMIT`.
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
    decide_numbers(header.column_names, rows)
    return Table(header.column_names, tuple(rows))


def decide_numbers(columns: Iterable[str], rows: Sequence[Row]) -> None:
    """Give each ambiguous number the decimal mark that the other cells of its column suggest. The rows are changed in
    place. Numbers stay ambiguous if the column does not show its decimal mark.
    """
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
    """Parse a CSV text as a table. Without `delimiter`, the delimiter is detected: comma, semicolon, tab or `|`.

    Raises UnreadableSource if the text is not CSV, or for the faults that `table_of` names.
    """
    dialect = sniff(text[:SAMPLE], whole=len(text) <= SAMPLE, separator=delimiter or "")
    if not delimiter and not dialect.sep_line and _has_one_name(text, dialect):
        dialect = CsvDialect()
    return table_of(record.cells for record in records(io.StringIO(text, newline=""), dialect))


def _has_one_name(text: str, dialect: CsvDialect) -> bool:
    """Return whether the header has a single column name. Delimiters in later lines are then part of the text of this
    column.
    """
    try:
        first = next((record for record in records(io.StringIO(text, newline=""), dialect) if not record.blank), None)
    except TableFault:
        return False
    return first is not None and len(first.cells) == 1


def read_csv(path: Path, delimiter: str | None = None, limit: int = CSV_LIMIT) -> Table:
    """Read a CSV file as a table. Raises UnreadableSource if the file has more than `limit` bytes, or if the content is
    not a table (see `parse_csv`).
    """
    return parse_csv(read_text(path, limit), delimiter)
