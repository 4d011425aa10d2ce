"""Columns of dates: decide the order of day and month from all cells of a column, then read each cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from . import cell_values as cells
from .dates import ORDERS, ColumnDates, date_readings

FORM = "write 2026-11-01 or 2026-11-01T09:30:00Z"


@dataclass(frozen=True, slots=True)
class DateColumns:
    """The date format of a table's columns."""

    order: str = ""
    """The order of all dates (a key of `ORDERS`), if the user named it."""
    seen: Mapping[str, ColumnDates] = field(default_factory=dict)
    """Column -> evidence about its order."""

    def with_columns(self, columns: Iterable[str]) -> DateColumns:
        """Return a copy that has seen no cell of these columns."""
        return DateColumns(self.order, {} if self.order else {column: ColumnDates() for column in columns})

    def see(self, line: int, row: Mapping[str, Any]) -> None:
        """Add one row to the evidence."""
        for column, seen in self.seen.items():
            if isinstance(cell := row.get(column), str) and len(cell) <= 60:
                seen.see(cell, f"line {line}")

    def read(self, column: str, cell: Any) -> datetime:
        """Read a cell of a date column; without a time zone it is in UTC. Raises InvalidCell."""
        if not isinstance(cell, str):
            return cells.moment(cell)
        try:
            return cells.moment(cell)
        except cells.InvalidCell as fault:
            told = cells.text(cell)
            found = date_readings(told)
            if not found.by:
                raise cells.InvalidCell(_serial_fault(told) or str(fault)) from None
        seen = self.seen.get(column)
        if self.order and self.order not in found.by and len(found.by) == 1 and not _has_own_order(told):
            raise cells.InvalidCell(f"{told[:40]!r} is not a date with the {ORDERS[self.order]}; {FORM}")
        order = self.order or (seen.order if seen else "")
        value = found.only or found.by.get(order)
        if value is None:
            days = " or ".join(f"{day:%Y-%m-%d}" for day in dict.fromkeys(found.by.values()))
            raise cells.InvalidCell(
                f"`{told[:40]}` is {days}, and {seen.why if seen else 'its column does not decide'}; write it as "
                "2026-11-01, or name the order (--dates DMY or --dates MDY)"
            )
        return value.replace(tzinfo=UTC)

    def notes(self) -> tuple[str, ...]:
        """Return one line about each column with ambiguous dates: how they are read."""
        notes = []
        for column, seen in self.seen.items():
            if seen.unclear and seen.order and (day := date_readings(seen.unclear_text).by.get(seen.order)):
                notes.append(f"{column}: {seen.unclear} is read as {day:%Y-%m-%d}, {ORDERS[seen.order]}: {seen.why}")
        return tuple(notes)


def _has_own_order(text: str) -> bool:
    """Return whether a date names its month, or begins with a year of four digits."""
    return any(c.isalpha() for c in text[:12]) or text.strip()[:4].isdecimal()


def _serial_fault(text: str) -> str:
    """Return a message for a spreadsheet's number of a day, such as `46082`."""
    if not (text.isdigit() and len(text) == 5):
        return ""
    return f"{text!r} is a number; give the column the format of dates in the spreadsheet, or {FORM}"
