"""Columns of numbers: decide the decimal mark from all cells of a column, then read each cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import cell_values as cells
from .numbers import ColumnMarks, plain, readings


@dataclass(frozen=True, slots=True)
class NumberColumns:
    """The number format of a table's columns."""

    decimal: str = ""
    """The decimal mark of all numbers, if the user named it."""
    marks: Mapping[str, ColumnMarks] = field(default_factory=dict)
    """Column -> evidence about its decimal mark."""
    money: frozenset[str] = frozenset()
    """Columns with amounts of money, which do not have three decimals."""

    def with_rows(self, columns: Mapping[str, bool], rows: Iterable[tuple[int, Mapping[str, Any]]]) -> NumberColumns:
        """Return a copy with the evidence of all rows. `columns` maps number columns to whether they are money."""
        money = frozenset(name for name, is_money in columns.items() if is_money)
        if self.decimal:
            return NumberColumns(self.decimal, money=money)
        marks = {column: ColumnMarks() for column in columns}
        for line, row in rows:
            for column, seen in marks.items():
                if isinstance(cell := row.get(column), str):
                    seen.see(cell, f"line {line}")
        return NumberColumns("", marks, money)

    def read(self, column: str, cell: Any, *, whole: bool = False) -> float | int:
        """Read a cell of a number column. Raises InvalidCell."""
        seen = self.marks.get(column)
        decimal, why = self.decimal or (seen.decimal if seen else ""), seen.why if seen else ""
        if decimal and not self.decimal and isinstance(cell, str) and not readings(cells.text(cell)).unclear:
            decimal = ""  # one reading: the column has nothing to decide
        if whole:
            return cells.whole(cell, decimal, why=why)
        return cells.number(cell, decimal, why=why, money=column in self.money)

    def notes(self) -> tuple[str, ...]:
        """Return one line about each column with ambiguous numbers: how they are read."""
        notes = []
        for column, seen in self.marks.items():
            if not seen.unclear:
                continue
            found = readings(seen.unclear_text)
            value = found.by(seen.decimal or ".")
            if value is not None and (seen.decimal or (column in self.money and value == found.larger)):
                why = seen.why if seen.decimal else "money has no three decimals; --decimal ',' says otherwise"
                notes.append(f"{column}: {seen.unclear} is read as {plain(value)}: {why}")
        return tuple(notes)
