"""Ambiguous numbers in two compared tables, such as `1.200` (1.2 or 1200). Each column gets one reading, and the reason
of the check names this reading.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from worksample.files.tables.numbers import MARKS, plain
from worksample.kit.numbers import NumberCell, is_unclear, number
from worksample.kit.table import Row, Table


class Compared(Protocol):
    """The rules of a table comparison: the compared columns, and the allowed deviation of numbers."""

    @property
    def values(self) -> Sequence[str]: ...

    def near(self, column: str, got: float, want: float) -> bool:
        """Return whether two numbers of a column are equal within the tolerances of this column."""


def settle_numbers(got: Table, want: Table, rules: Compared) -> tuple[Table, Table, list[str]]:
    """Decide each ambiguous number in the compared columns. Return both tables with decided numbers, and a text for
    each decision.

    If a column does not show its decimal mark, its numbers get the reading that matches more numbers of the reference.
    If both readings match equally many, the point is the decimal mark.
    """
    decided: tuple[dict[str, str], dict[str, str]] = {}, {}
    notes = []
    for column in rules.values:
        sides = [[row.get(column) for row in table.rows] for table in (got, want)]
        ways = [MARKS if any(map(is_unclear, side)) else ("",) for side in sides]
        if ways != [("",), ("",)]:
            choices = [(mine, theirs) for theirs in ways[1] for mine in ways[0]]
            best = max(choices, key=lambda way: _fitting(column, sides, way, rules))
            decided[0][column], decided[1][column] = best
            notes += _reading_note(
                column, sides[0], best[0], "like the reference; no other cell of the column shows the decimal mark"
            )
        marked = [cell for cell in sides[0] if isinstance(cell, NumberCell)]
        notes += _reading_note(column, marked, marked[0].decimal if marked else "", "like its other cells")
    return _with_marks(got, decided[0]), _with_marks(want, decided[1]), notes


def _reading_note(column: str, cells: Iterable[Any], decimal: str, why: str) -> list[str]:
    """Describe how the first ambiguous number of a column was read. The list is empty if the point was read as the
    decimal mark.
    """
    first = next((c for c in cells if isinstance(c, NumberCell) or is_unclear(c)), None)
    value = number(NumberCell(first, decimal)) if first is not None and decimal == "," else None
    return [] if value is None else [f"column {column}: {str(first)[:40]} is read as {plain(value)}, {why}"]


def _fitting(column: str, sides: Sequence[Sequence[Any]], way: tuple[str, str], rules: Compared) -> int:
    """Count the numbers in the deliverable's column that are within the tolerance of the reference if both columns are
    read as `way` says.
    """
    mine, theirs = (
        [v for v in (number(NumberCell(c, mark) if mark and is_unclear(c) else c) for c in side) if v is not None]
        for side, mark in zip(sides, way, strict=True)
    )
    wanted = sorted(theirs)
    return sum(_has_near(column, value, wanted, rules) for value in mine)


def _has_near(column: str, value: float, wanted: Sequence[float], rules: Compared) -> bool:
    at = bisect_left(wanted, value)
    return any(rules.near(column, value, other) for other in wanted[max(0, at - 1) : at + 1])


def _with_marks(table: Table, decided: dict[str, str]) -> Table:
    marks = {column: mark for column, mark in decided.items() if mark}
    if not marks:
        return table

    def decide_row(row: Row) -> Row:
        return {c: NumberCell(v, marks[c]) if c in marks and is_unclear(v) else v for c, v in row.items()}

    return Table(table.columns, tuple(decide_row(row) for row in table.rows), table.owner)
