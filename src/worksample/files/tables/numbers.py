"""Numbers as people write them, and the evidence of a whole column about its decimal mark.

`1.200` is 1.2 or 1200: one reading if `.` is the decimal mark, another if `,` is. If the other numbers of the column
fit only one mark, that mark counts; otherwise the text stays ambiguous.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

MARKS = (".", ",")
"""Decimal marks."""
LONGEST = 5_000
"""Maximum characters of a number."""

_CODE_NAMES = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF "
    "CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD "
    "HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL "
    "LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR "
    "PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY "
    "TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW"
)
_CODES = frozenset(_CODE_NAMES.split())
SYMBOLS = {
    "US$": "USD", "CA$": "CAD", "AU$": "AUD", "C$": "CAD", "A$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW",
    "₪": "ILS", "₫": "VND", "₴": "UAH", "₦": "NGN", "฿": "THB", "zł": "PLN", "Kč": "CZK", "kr": "", "Fr.": "CHF",
}  # fmt: skip
"""Currency sign -> currency code, or "" if several currencies share the sign."""

_PLAIN_FORMS = str.maketrans(
    {
        **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},
        **dict.fromkeys((0xA0, 0x2007, 0x2009, 0x202F, 0x2002, 0x2003, 0x200A, 0x3000, 0x09), " "),
        **dict.fromkeys((0x2212, 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0xFE63), "-"),
        **dict.fromkeys((0x2019, 0x02BC, 0x2032), "'"),
        **dict.fromkeys((0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, 0x061C)),
        0xFFE5: "¥", 0xFFE1: "£",
    }
)  # fmt: skip


def _form(decimal: str) -> re.Pattern[str]:
    """Return a pattern for a number without sign and currency, written with this decimal mark."""
    mark, other = re.escape(decimal), re.escape(",.".replace(decimal, ""))
    grouped = rf"[1-9]\d{{0,2}}(?:{other}\d{{3}})+|[1-9]\d{{0,2}}(?: \d{{3}})+|[1-9]\d{{0,2}}(?:'\d{{3}})+"
    indian = rf"[1-9]\d?(?:{other}\d{{2}})+{other}\d{{3}}" if decimal == "." else r"(?!)"
    return re.compile(
        rf"(?P<grouped>{grouped}|{indian})(?P<tail>{mark}(?:\d+|-{{1,2}})?)?"
        rf"|(?P<plain>\d+)(?P<end>{mark}(?:\d*|-{{1,2}}))?(?P<power>e[+-]?\d{{1,3}})?"
        rf"|(?P<bare>{mark}\d+)(?P<small>e[+-]?\d{{1,3}})?",
        re.ASCII | re.IGNORECASE,
    )


_FORMS = {mark: _form(mark) for mark in MARKS}


@dataclass(frozen=True, slots=True)
class Readings:
    """The numeric values of a text, by decimal mark; None if the text is not a number with that mark."""

    point: float | None
    comma: float | None
    currency: str = ""
    """Code of the currency in the text, if any."""
    percent: bool = False

    @property
    def unclear(self) -> bool:
        """Return whether both marks give a number, and the two numbers differ."""
        return self.point is not None and self.comma is not None and self.point != self.comma

    @property
    def larger(self) -> float | None:
        """The larger reading, whose separator marks thousands."""
        return max((v for v in (self.point, self.comma) if v is not None), key=abs, default=None)

    @property
    def is_number(self) -> bool:
        return self.point is not None or self.comma is not None

    def by(self, decimal: str) -> float | None:
        """Return the number with this decimal mark."""
        return self.comma if decimal == "," else self.point

    @property
    def only(self) -> float | None:
        """The number if the text has exactly one reading, otherwise None."""
        return None if self.unclear else self.point if self.point is not None else self.comma


NONE = Readings(None, None)


def plain_form(text: str) -> str:
    """Return a text with one form of spaces, dashes, apostrophes and full-width characters, and no invisible ones."""
    return text.translate(_PLAIN_FORMS).strip()


def readings(text: str) -> Readings:
    """Return every reading of a text. Signs, currencies, percent, brackets for negative numbers and all usual group
    separators are understood.
    """
    if len(text) > LONGEST:
        return NONE
    bare, outer = split_currency(plain_form(text))
    below = len(bare) > 2 and bare[0] == "(" and bare[-1] == ")"
    bare = bare[1:-1].strip() if below else bare
    percent = bare.endswith("%")
    sign, bare = _sign(bare.removesuffix("%").strip())
    bare, inner = ("", "") if below and sign else (bare, "") if outer else split_currency(bare)
    if not sign:
        sign, bare = _sign(bare)
    factor = (-1.0 if below or sign == "-" else 1.0) / (100 if percent else 1)
    point, comma = (None if v is None else v * factor for v in (_value(bare, mark) for mark in MARKS))
    return Readings(point, comma, outer or inner, percent)


def _sign(text: str) -> tuple[str, str]:
    """Remove the sign, which stands before the number, or after it as SAP writes it; `12,-` is a price without
    cents.
    """
    if text[:1] in ("-", "+") and text:
        return text[0], text[1:].strip()
    if len(text) > 1 and text[-1] == "-" and (text[-2].isdigit() or text[-2] == " "):
        return "-", text[:-1].strip()
    return "", text


def split_currency(text: str) -> tuple[str, str]:
    """Return the text without one currency sign or code before or after the number, and the currency's code."""
    for symbol, code in SYMBOLS.items():
        if text.startswith(symbol):
            return text[len(symbol) :].strip(), code
        if text.endswith(symbol):
            return text[: -len(symbol)].strip(), code
    for code, rest in ((text[:3], text[3:]), (text[-3:], text[:-3])):
        if code in _CODES and not rest[:1].isalpha() and not rest[-1:].isalpha():
            return rest.strip(), code
    return text, ""


def _value(text: str, decimal: str) -> float | None:
    found = _FORMS[decimal].fullmatch(text)
    if found is None:
        return None
    other = "." if decimal == "," else ","
    bare = re.sub(rf"[ '{other}]|{re.escape(decimal)}-+$", "", found[0])
    return float(bare.replace(decimal, "."))


@dataclass(slots=True)
class ColumnMarks:
    """Evidence of one column's numbers about its decimal mark."""

    point: str = ""
    """A text, with its place, that is a number only if `.` is the decimal mark."""
    comma: str = ""
    unclear: str = ""
    """The first ambiguous text, with its place."""
    unclear_text: str = ""
    """The first ambiguous text, without its place."""

    def see(self, text: str, where: str = "") -> None:
        """Add one more text of the column to the evidence."""
        if text.isdigit() or (self.point and self.comma and self.unclear):
            return
        found = readings(text)
        shown = f"`{text.strip()[:40]}`{f' ({where})' if where else ''}"
        if found.unclear:
            self.unclear, self.unclear_text = (self.unclear, self.unclear_text) if self.unclear else (shown, text)
        elif found.point is None and found.comma is not None:
            self.comma = self.comma or shown
        elif found.comma is None and found.point is not None:
            self.point = self.point or shown

    @property
    def decimal(self) -> str:
        """The decimal mark that the evidence proves; "" if it proves none or both."""
        return "." if self.point and not self.comma else "," if self.comma and not self.point else ""

    @property
    def why(self) -> str:
        """Why an ambiguous number of this column stays ambiguous, or how it was decided."""
        if self.point and self.comma:
            return f"the column has both {self.point} and {self.comma}"
        proof = self.point or self.comma
        return f"the column has {proof}" if proof else "no other number of the column tells"


def marks_of(values: Iterable[Any]) -> ColumnMarks:
    """Return the evidence of a column's texts about its decimal mark."""
    marks = ColumnMarks()
    for value in values:
        if isinstance(value, str):
            marks.see(value)
    return marks


def plain(value: float) -> str:
    """Return a number as messages show it: `1200`, `1.2`."""
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


def two_readings(text: str) -> str:
    """Return a text with both numbers that an ambiguous text may mean."""
    found = readings(text)
    small, large = sorted((v for v in (found.point, found.comma) if v is not None), key=abs)
    return f"`{text.strip()[:40]}` is {plain(small)} or {plain(large)}"


def format_float(value: float) -> str:
    """Format a float for a CSV: as `repr`, with another 0 if three decimals could be read as thousands."""
    text = repr(value)
    return text + "0" if math.isfinite(value) and readings(text).unclear else text
