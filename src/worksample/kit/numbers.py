"""Numbers in the notations that people write."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from worksample.files.tables.numbers import readings

LONGEST = 64
"""Maximum length of a number in characters."""
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)


class NumberCell(str):
    """The text of a cell with the decimal mark that its column suggests."""

    __slots__ = ("decimal",)
    decimal: str

    def __new__(cls, text: str, decimal: str) -> NumberCell:
        made = super().__new__(cls, text)
        made.decimal = decimal
        return made


def number(value: Any, decimal: str = "") -> float | None:
    """Return the number in a cell, or None if it is not a number or ambiguous.

    Understands `1,234.50`, `1.234,50` (both marks, comma last), `1,5` (a comma not followed by three digits), `1 234`,
    `1'234`, `1,00,000`, `$12`, `12 EUR`, `(12.50)` and `5-` as negative, `-5`, `12%` as 0.12, full-width digits. NaN,
    infinity and booleans are not numbers. `1.234` is 1.234 or 1234. decimal: the decimal mark, `.` or `,`, if the brief
    states it; otherwise the other cells of a table's column decide, and without them the result is None. `1,234` is
    1234 unless `decimal` or the column says that the comma is the decimal mark.
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
    """Return whether a cell has two readings and nothing decides between them: `number` then returns None, or reads
    `1,234` as 1234.
    """
    return (
        isinstance(value, str)
        and not isinstance(value, NumberCell)
        and len(value) <= LONGEST
        and readings(value).unclear
    )


def possible_numbers(value: Any) -> tuple[float, ...]:
    """Return every number that a cell may be: 1.2 and 1200 for a lone `1.200`, nothing for text.

    Use it for a single cell with a known value; compare a table's columns with `tabular`.
    """
    if is_unclear(value):
        found = readings(value)
        return tuple(v for v in (_finite(found.point), _finite(found.comma)) if v is not None)
    one = number(value)
    return () if one is None else (one,)


def whole(value: Any) -> int | None:
    """Return the integer in a cell, digit by digit; None for any other number or text.

    Floats hold 15 digits: two longer account numbers or ids would be equal.
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
    """Return a cell as comparable text: dates in ISO form, spaces collapsed, case folded."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        value = value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    elif isinstance(value, (date, time)):
        value = value.isoformat()
    return " ".join(str(value).split()).casefold()


def key_text(value: Any) -> str:
    """Return a key as comparable text: `1`, `1.0` and 1 are one key; codes with leading zeros stay as they are."""
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
    """Return whether `got` is within the larger of both tolerances of `want`. Float rounding is always forgiven; two
    integers compare exactly, however long they are.
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
