"""Values of cells in people's tables. `InvalidCell` says why a cell has no valid value."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from worksample.files.json_duplicate_keys import DuplicateKeyError, unique_object
from worksample.files.tables.numbers import readings, two_readings

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LARGEST = 2**63 - 1
"""Largest whole number."""
_YES = frozenset({"true", "yes", "y", "1", "verified"})
_NO = frozenset({"false", "no", "n", "0", "unverified", "not verified"})


class InvalidCell(ValueError):
    """A cell whose value does not suit its column."""


class UnknownCell(str):
    """A cell that has no known value, such as a formula that was saved without one. Its text says why."""


def is_blank(cell: object) -> bool:
    """Return whether a cell is empty, or has a text that spreadsheets and data frames write for an empty cell."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    if not isinstance(cell, str) or isinstance(cell, UnknownCell):
        return False
    told = cell.strip()
    return len(told) <= 4 and told.lower() in ("", "null", "none", "nan", "n/a", "na")


def text(cell: object) -> str:
    """Return the cell as text without control characters."""
    if is_blank(cell):
        return ""
    if isinstance(cell, list | dict):
        raise InvalidCell("is a list or a table, not a text")
    if isinstance(cell, float) and math.isinf(cell):  # so `tables.opening` reads a whole number of thousands of digits
        raise InvalidCell("is not finite; write it as text, in quotes")
    if isinstance(cell, UnknownCell):
        raise InvalidCell(str(cell))
    told = str(cell)
    if "\r" in told:
        told = told.replace("\r\n", "\n").replace("\r", "\n")
    if not told.isascii():
        try:
            told.encode()
        except UnicodeEncodeError:
            raise InvalidCell("holds invalid Unicode (a lone surrogate)") from None
    return _CONTROL.sub("", told).strip()


def number(cell: object, decimal: str = "", *, why: str = "", money: bool = False) -> float:
    """Return a finite number of at least 0, in any usual form (see `worksample.files.tables.numbers`).

    `decimal` is the column's decimal mark, or "" if unknown. If it is unknown, `1.200` is rejected with `why`, and so
    is `1,200`, except for money, because amounts of money do not have three decimals.
    """
    found = _amount(cell, decimal, why, money=money)
    if not math.isfinite(found):
        raise InvalidCell("is infinite or NaN, not a finite number")
    if found < 0:
        raise InvalidCell("is below 0")
    return found


def _amount(cell: object, decimal: str, why: str, *, money: bool) -> float:
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        try:
            return float(cell)
        except OverflowError:
            raise InvalidCell("is infinite or NaN, not a finite number") from None
    if isinstance(cell, bool):
        raise InvalidCell("is not a number")
    told = text(cell)
    if told.startswith("="):
        raise InvalidCell("is a formula; save the table with its values")
    found = readings(told)
    if not found.is_number:
        raise InvalidCell(f"{told[:40]!r} is not a number")
    if found.percent:
        raise InvalidCell(f"{told[:40]!r} is a percentage; write a plain number")
    value = found.by(decimal) if decimal else found.only
    if value is not None:
        return value
    if decimal:
        raise InvalidCell(f"{told[:40]!r} is not a number with {decimal!r} as the decimal mark")
    if money and found.point is not None and found.point == found.larger:
        return found.point
    raise InvalidCell(
        f"{two_readings(told)}, and {why or 'its column does not decide'}; write it without a thousands "
        "separator, or name the decimal mark (--decimal ',')"
    )


def currency_in(cell: object) -> str:
    """Return the currency in the text of an amount (`$1,200`, `1200 EUR`), or ""."""
    return readings(cell).currency if isinstance(cell, str) else ""


def whole(cell: object, decimal: str = "", *, why: str = "") -> int:
    """Return an exact whole number of at most 64 bits."""
    if isinstance(cell, str) and re.fullmatch(r"[0-9]{1,40}", cell.strip()):
        exact = int(cell)
    else:
        found = number(cell, decimal, why=why)
        if found != int(found):
            raise InvalidCell("is not a whole number")
        exact = cell if isinstance(cell, int) else int(found)
    if exact > LARGEST:
        raise InvalidCell("is too large")
    return exact


def flag(cell: object) -> bool:
    if isinstance(cell, bool):
        return cell
    told = text(cell).lower()
    if told in _YES or told in _NO:
        return told in _YES
    raise InvalidCell(f"{told[:40]!r} is neither yes nor no")


def moment(cell: object) -> datetime:
    """Return a point in time. Without a time zone it is in UTC; a date means its first moment."""
    if isinstance(cell, datetime):
        found = cell
    elif isinstance(cell, date):
        found = datetime(cell.year, cell.month, cell.day)
    elif isinstance(cell, int | float) and not isinstance(cell, bool):
        raise InvalidCell("is a number; write dates as 2026-11-01 or 2026-11-01T09:30:00Z")
    else:
        try:
            found = datetime.fromisoformat(text(cell))
        except ValueError:
            raise InvalidCell(f"{text(cell)[:40]!r} is not a date; write 2026-11-01 or 2026-11-01T09:30:00Z") from None
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise InvalidCell("is not a valid date in UTC") from None


def parse_json_cell(cell: object) -> Any:
    """Return the value of a cell that contains JSON, or the cell unchanged."""
    if isinstance(cell, str) and cell.strip()[:1] in ("[", "{"):
        try:
            return json.loads(cell, object_pairs_hook=unique_object)
        except DuplicateKeyError as twice:
            raise InvalidCell(f"{twice}; {twice.next}") from None
        except (ValueError, RecursionError):
            raise InvalidCell("begins like JSON, but is not valid JSON") from None
    return cell


def texts(cell: object) -> tuple[str, ...]:
    """Return a list: JSON, or one text whose items are separated by lines or semicolons."""
    if is_blank(cell):
        return ()
    found = parse_json_cell(cell)
    if isinstance(found, dict):
        raise InvalidCell("is a table, not a list")
    items = found if isinstance(found, list) else re.split(r"[;\n]", text(found))
    return tuple(dict.fromkeys(t for t in (text(_attachment_name(i)) for i in items) if t))


def _attachment_name(item: object) -> object:
    """Return the name of an attachment that is given as a JSON object."""
    if isinstance(item, dict):
        return next((item[k] for k in ("path", "name", "filename", "file_name", "url") if item.get(k)), None)
    return item
