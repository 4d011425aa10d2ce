"""A reader of numbers in the notations that people use, such as `1,234.50` and `12 %`."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from worksample.files.tables.numbers import readings

LONGEST = 64
"""Maximum number of characters of a number; a longer text is not read as a number."""
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)


class NumberCell(str):
    """The text of a cell, with the decimal mark that the other cells of its column suggest."""

    __slots__ = ("decimal",)
    decimal: str

    def __new__(cls, text: str, decimal: str) -> NumberCell:
        made = super().__new__(cls, text)
        made.decimal = decimal
        return made


def number(value: Any, decimal: str = "") -> float | None:
    """Return the number in a cell. Returns None if the cell is not a number, or if the number is ambiguous.

    Understands `1,234.50`, `1.234,50` (both marks, comma last), `1,5` (a comma not followed by three digits), `1 234`,
    `1'234`, `1,00,000`, `$12`, `12 EUR`, `-5`, `5-` and `(12.50)` as negative, `12%` as 0.12, and full-width digits.
    NaN, infinity and booleans are not numbers.

    decimal: the decimal mark, `.` or `,`, if the brief states it. Without it, the other cells of the table's column
    decide. If they do not decide, `1.234` gives None, because it may be 1.234 or 1234, and `1,234` gives 1234.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        try:
            found = float(value)
        except OverflowError:
            return None
        return found if math.isfinite(found) else None
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        return None
    return _finite(_read_text(value, decimal))


def _read_text(text: str, decimal: str) -> float | None:
    found = readings(text)
    if not found.unclear:
        return found.by(decimal) if decimal else found.only
    decimal = decimal or (text.decimal if isinstance(text, NumberCell) else "")
    if decimal:
        return found.by(decimal)
    return found.point if found.point == found.larger else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def is_unclear(value: Any) -> bool:
    """Return whether a cell may be two different numbers, such as `1.200`, and its column does not decide between them.

    `number` returns None for such a cell, or 1234 for `1,234`.
    """
    return (
        isinstance(value, str)
        and not isinstance(value, NumberCell)
        and len(value) <= LONGEST
        and readings(value).unclear
    )


def possible_numbers(value: Any) -> tuple[float, ...]:
    """Return every number that a cell may mean: 1.2 and 1200 for `1.200`, and nothing for text.

    Use this function for a single cell with a known value. To compare the columns of a table, use `tabular`.
    """
    if is_unclear(value):
        found = readings(value)
        return tuple(v for v in (_finite(found.point), _finite(found.comma)) if v is not None)
    one = number(value)
    return () if one is None else (one,)


def whole(value: Any) -> int | None:
    """Return the integer in a cell, exact for any number of digits. Returns None for any other number or text.

    Use this function for account numbers and ids: as floats, two different ids of more than 15 digits could be equal.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1 << 53 else None
    found = _WHOLE.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= 64 else None
    return int(found[0]) if found else None


def plain_text(value: Any) -> str:
    """Return a cell as text for comparison: dates in ISO form, single spaces, case folded."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        value = value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    elif isinstance(value, (date, time)):
        value = value.isoformat()
    return " ".join(str(value).split()).casefold()


def key_text(value: Any) -> str:
    """Return a key as text for comparison. `1`, `1.0` and 1 are the same key; codes with leading zeros are not
    changed.
    """
    text = plain_text(value)
    if len(text) > 1 and text[0] == "0" and text[1].isdigit():
        return text
    if (exact := whole(value)) is not None:
        return str(exact)
    found = number(value)
    if found is None:
        return text
    return str(int(found)) if found == int(found) and abs(found) < 1e15 else repr(found)


def close(got: float, want: float, absolute: float = 0.0, relative: float = 0.0) -> bool:
    """Return whether `got` differs from `want` by at most the larger of two tolerances.

    absolute: allowed difference. relative: allowed difference as a share of `want`. Rounding errors of floats are
    always allowed. Two integers are compared exactly, for any number of digits.
    """
    if isinstance(got, int) and isinstance(want, int):
        return _close_integers(got, want, absolute, relative)
    try:
        got, want = float(got), float(want)
    except OverflowError:  # an integer beyond any float
        return got == want
    allowed = max(absolute, relative * abs(want))
    return abs(got - want) <= allowed + 1e-9 * max(1.0, abs(want), allowed)


def _close_integers(got: int, want: int, absolute: float, relative: float) -> bool:
    allowed = max(Fraction(absolute), Fraction(relative) * abs(want))
    return abs(got - want) <= allowed * (1 + Fraction(1, 10**9))
