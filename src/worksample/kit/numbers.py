"""Numbers as people write them."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)
_CURRENCY = "$€£¥₹"
_CODES = ("USD", "EUR", "GBP", "CHF", "JPY")
_GROUPED = re.compile(r"\d{1,3}([ '\u00a0\u202f\u2009]\d{3})+([.,]\d+)?", re.ASCII)
_SPACES = str.maketrans("", "", "\u00a0\u202f\u2009' ")


def number(value: Any) -> float | None:
    """The number in a cell, or None where it is none.

    Understands `1,234.50`, `1.234,50` (both marks, comma last), `1,5` (a comma not followed by three digits), `1 234`,
    `$12`, `12 EUR`, `(12.50)` as negative, `-5`, `12%` as 0.12. NaN and infinity are no numbers, nor is a boolean.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        try:
            found = float(value)
        except OverflowError:
            return None
        return found if math.isfinite(found) else None
    if not isinstance(value, str) or not 0 < len(value) <= 64:
        return None
    return _parse(value.strip().replace("\u2212", "-"))


def _parse(text: str) -> float | None:
    negative = len(text) > 2 and text[0] == "(" and text[-1] == ")"
    if negative:
        text = text[1:-1].strip()
    percent = text.endswith("%")
    text = text.removesuffix("%").strip()
    for code in _CODES:
        text = text.removeprefix(code).removesuffix(code)
    sign = ""
    text = text.strip()
    if text[:1] in ("-", "+") and text:
        sign, text = text[0], text[1:]
    text = text.strip().strip(_CURRENCY).strip()
    if _GROUPED.fullmatch(text):
        text = text.translate(_SPACES)
    text = _marks(text)
    if not _PLAIN.fullmatch(sign + text):
        return None
    found = float(sign + text)
    if not math.isfinite(found):
        return None
    found = found / 100 if percent else found
    return -found if negative else found


def _marks(text: str) -> str:
    """Thousands marks out, the decimal mark as a point."""
    comma, point = text.rfind(","), text.rfind(".")
    if comma < 0:
        return text.replace(".", "") if text.count(".") > 1 and _grouped(text, ".") else text
    if point > comma:
        return text.replace(",", "") if _grouped(text[:point], ",") else text
    if point >= 0:
        return text[:comma].replace(".", "") + "." + text[comma + 1 :] if text.count(",") == 1 else text
    if _grouped(text, ","):
        return text.replace(",", "")
    return text.replace(",", ".") if text.count(",") == 1 else text


def _grouped(text: str, mark: str) -> bool:
    head, *rest = text.lstrip("+-").split(mark)
    return 1 <= len(head) <= 3 and all(len(r) == 3 and r.isdigit() for r in rest)


def whole(value: Any) -> int | None:
    """The integer in a cell, digit by digit; None for any other number, and for what is none.

    Floats hold 15 digits: two longer numbers of accounts, or ids of posts, would be one.
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
    """A cell as comparable text: dates in ISO form, spaces collapsed, case folded."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        value = value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    elif isinstance(value, (date, time)):
        value = value.isoformat()
    return " ".join(str(value).split()).casefold()


def key_text(value: Any) -> str:
    """A key as comparable text: `1`, `1.0` and 1 are one key; codes with leading zeros stay as they are."""
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
    """Whether `got` lies within the larger of both tolerances of `want`; rounding of floats is always forgiven, while
    two integers compare exactly, however long they are."""
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
