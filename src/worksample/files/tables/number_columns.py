"""Columns of numbers: decide the decimal mark from all cells of a column, then read each cell.

A quantity column may also have units and ranges (`4h`, `300–500 EUR`); its ranges are read as low and high.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any

from . import cell_values as cells
from .intervals import NumberRange, Quantities, Quantity, UnreadQuantity, quantities
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
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """Columns that may have units and ranges -> their meaning."""
    ranges: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Column -> its first range, with its place, and the number of its ranges."""
    currencies: dict[str, dict[str, str]] = field(default_factory=dict)
    """Column -> currency that a number format or a cell names -> the first place."""

    def with_rows(self, columns: Mapping[str, bool], rows: Iterable[tuple[int, Mapping[str, Any]]]) -> NumberColumns:
        """Return a copy with the evidence of all rows. `columns` maps number columns to whether they are money."""
        found = self.with_columns(columns)
        for line, row in rows if not self.decimal else ():
            found.see(line, row)
        return found

    def with_columns(
        self, columns: Mapping[str, bool], quantities: Mapping[str, Quantity] | None = None
    ) -> NumberColumns:
        """Return a copy that has seen no cell of these columns; `see` adds the rows."""
        money = frozenset(name for name, is_money in columns.items() if is_money)
        marks = {} if self.decimal else {column: ColumnMarks() for column in columns}
        return NumberColumns(self.decimal, marks, money, quantities or {})

    def see(self, line: int, row: Mapping[str, Any]) -> None:
        """Add one row to the evidence."""
        for column in self.marks.keys() | self.quantities.keys():
            cell, place = row.get(column), f"line {line}"
            if currency := getattr(cell, "currency", ""):
                self.currencies.setdefault(column, {}).setdefault(currency, f"the format of {place}")
            if not isinstance(cell, str) or isinstance(cell, cells.UnknownCell):
                continue
            marks = self.marks.get(column)
            kind = self.quantities.get(column)
            found = None if kind is None else _parts(cell, kind)
            if found is not None and found.currency:
                self.currencies.setdefault(column, {}).setdefault(found.currency, f"`{cell.strip()[:40]}` ({place})")
            if found is not None and found.is_range:
                first, count = self.ranges.get(column, (f"`{cell.strip()[:40]}` ({place})", 0))
                self.ranges[column] = (first, count + 1)
            for text in found.texts if found is not None else (cell,):
                if marks is not None:
                    marks.see(text, place)

    def read(self, column: str, cell: Any, *, whole: bool = False) -> float | int:
        """Read a cell of a number column. Raises InvalidCell."""
        seen = self.marks.get(column)
        decimal, why = self.decimal or (seen.decimal if seen else ""), seen.why if seen else ""
        if decimal and not self.decimal and isinstance(cell, str) and not readings(cells.text(cell)).unclear:
            decimal = ""  # one reading: the column has nothing to decide
        if whole:
            return cells.whole(cell, decimal, why=why)
        return cells.number(cell, decimal, why=why, money=column in self.money)

    def read_interval(self, column: str, cell: Any) -> tuple[NumberRange, str]:
        """Read a cell of a quantity column; return its ends and the currency that it names. Raises InvalidCell."""
        kind = self.quantities.get(column, Quantity.NUMBER)
        if isinstance(cell, date):
            raise cells.InvalidCell(f"is the date {cell:%Y-%m-%d} (a spreadsheet reads 2-3 as one); {kind.form}")
        if kind is Quantity.HOURS and isinstance(cell, time):
            cell = timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second)
        if kind is Quantity.HOURS and isinstance(cell, timedelta):
            cell = cell.total_seconds() / 3600
        if not isinstance(cell, str):
            value = float(self.read(column, cell))
            return NumberRange(value, value), getattr(cell, "currency", "")
        told = cells.text(cell)
        try:
            found = quantities(told, kind)
        except UnreadQuantity as fault:
            raise cells.InvalidCell(f"{told[:40]!r} {fault}; {kind.form}") from None
        if found is None:
            if told.startswith("="):
                self.read(column, cell)
            raise cells.InvalidCell(f"{told[:40]!r} is not a number; {kind.form}")
        low, *more = (round(float(self.read(column, text)) * found.factor, 9) for text in found.texts)
        high = more[0] if more else low
        if high < low:
            raise cells.InvalidCell(f"{told[:40]!r} begins with its larger number; {kind.form}")
        return NumberRange(low, high), found.currency

    def currency_of(self, column: str) -> str:
        """Return the currency of amounts of a column that name none: that of the other cells, or "".

        Raises InvalidCell if the other cells name several.
        """
        named = self.currencies.get(column, {})
        if len(named) > 1:
            shown = " and ".join(named.values())
            raise cells.InvalidCell(
                f"names no currency, and the column has {shown}; write its currency, such as 900 EUR"
            )
        return next(iter(named), "")

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
        for column, (first, count) in self.ranges.items():
            many = "is a range" if count == 1 else f"and {count - 1} more are ranges"
            notes.append(f"{column}: {first} {many}, kept as low and high; sums use the middle")
        return tuple(notes)


def _parts(cell: str, kind: Quantity) -> Quantities | None:
    try:
        return quantities(cell, kind)
    except UnreadQuantity:
        return None
