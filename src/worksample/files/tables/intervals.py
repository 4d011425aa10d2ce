"""Amounts and hours as people write them in lists: with words, units, and as ranges (`300–500 EUR`, `4h`, `2-3`)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from .numbers import plain_form, readings, split_currency

LONGEST = 80
"""Maximum characters of an amount."""


class Quantity(StrEnum):
    """The meaning of a column of numbers, which decides the words that its cells may contain."""

    NUMBER = "number"
    MONEY = "money"
    HOURS = "hours"

    @property
    def form(self) -> str:
        """The form to write, for messages."""
        return {
            Quantity.NUMBER: "write it as 12, 12.5 or 2-3",
            Quantity.MONEY: "write it as 1200, 1200.50 EUR or 300-500",
            Quantity.HOURS: "write hours as 4, 4.5, 2-3, 4h or 4:30",
        }[self]


@dataclass(frozen=True, slots=True)
class NumberRange:
    """A number from `low` to `high`; a single number has two equal ends."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return self.low if self.low == self.high else (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Quantities:
    """The one or two numbers of a cell, as texts, before the column's decimal mark is known."""

    texts: tuple[str, ...]
    factor: float = 1.0
    """What the numbers are multiplied by: 1000 for `12k`, 1/60 for minutes."""
    currency: str = ""

    @property
    def is_range(self) -> bool:
        return len(self.texts) == 2


class UnreadQuantity(ValueError):
    """A cell with two currencies, or a unit that its column does not have."""


_ABOUT = re.compile(r"^(?:ca\.?|circa|approx\.?|approximately|about|~|≈|env\.|environ|ungefähr|rund)\s*(?=[^\s])", re.I)
_MONEY_WORDS = (
    (re.compile(r"\b(?:euros?|eur)\b", re.I), "EUR"),
    (re.compile(r"\b(?:us[- ]dollars?|usd)\b", re.I), "USD"),
    (re.compile(r"\bgbp\b", re.I), "GBP"),
    (re.compile(r"\b(?:chf|sfr\.?)(?=\W|$)", re.I), "CHF"),
    (re.compile(r"円"), "JPY"),
    (re.compile(r"元"), "CNY"),
)
_RANGE = re.compile(r"\s*(?:-|\.\.\.?|…|~|〜)\s*|\s+(?:to|bis|à|a|до|tot)\s+", re.I)
_HOURS = re.compile(
    r"(?<=[\d\s.,])(?:h|hrs?\.?|hours?|std\.?|stunden?|heures?|horas?|ore|uur|uren|godz\.?|timmar|timer|ч\.?|小时|時間)$",
    re.I,
)
_MINUTES = re.compile(r"(?<=[\d\s.,])(?:min\.?|mins\.?|minutes?|minuten|minutos|minuti)$", re.I)
_CLOCK = re.compile(r"(\d{1,4})(?::|\s?h\s?|\s?hrs?\s|\s?std\.?\s)([0-5]\d|\d(?=\s?m))(?::00)?\s?(?:m|min\.?|h)?", re.I)
_THOUSAND = re.compile(r"(?<=\d)\s?k$", re.I)


def quantities(text: str, kind: Quantity) -> Quantities | None:
    """Return the numbers of a cell, None if it has none. Raises UnreadQuantity for two currencies in a cell."""
    if len(text) > LONGEST:
        return None
    bare = _ABOUT.sub("", with_latin_digits(plain_form(text)).strip())
    if kind is Quantity.HOURS:
        return _hours(bare)
    if kind is Quantity.MONEY:
        for word, code in _MONEY_WORDS:
            bare = word.sub(code, bare)
    return _numbers(bare, kind)


def _numbers(text: str, kind: Quantity) -> Quantities | None:
    whole = _single(text, kind)
    if whole is not None:
        return whole
    found = []
    for mark in _RANGE.finditer(text):
        low, high = _single(text[: mark.start()].strip(), kind), _single(text[mark.end() :].strip(), kind)
        if low is not None and high is not None:
            found.append((low, high))
    if len(found) != 1:
        return None
    [(low, high)] = found
    if len({low.currency, high.currency} - {""}) > 1:
        raise UnreadQuantity("names two currencies")
    if low.factor != high.factor:
        return None  # `1-2k`: 1 to 2000, or 1000 to 2000
    return Quantities((*low.texts, *high.texts), low.factor, low.currency or high.currency)


def _single(text: str, kind: Quantity) -> Quantities | None:
    """Return one number, without `k` for thousand if it is an amount of money."""
    found = readings(text)
    if found.is_number:
        return Quantities((text,), 1.0, found.currency)
    if kind is Quantity.MONEY:
        bare, currency = split_currency(text)
        thousands = _THOUSAND.sub("", bare)
        if thousands != bare and not readings(thousands).currency and readings(thousands).is_number:
            return Quantities((thousands,), 1000.0, currency)
        if currency and split_currency(bare)[1] not in ("", currency):
            raise UnreadQuantity("names two currencies")
    return None


def _hours(text: str) -> Quantities | None:
    """Return hours: `4h`, `4:30`, `1h 30m`, `90 min`, `2-3 h`."""
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        return Quantities((repr(int(clock[1]) * 60 + int(clock[2])),), 1 / 60)
    factor, bare = 1.0, _HOURS.sub("", text).strip()
    if bare == text and (minutes := _MINUTES.sub("", text).strip()) != text:
        factor, bare = 1 / 60, minutes
    bare = " - ".join(_HOURS.sub("", part).strip() for part in parts) if len(parts := _RANGE.split(bare)) == 2 else bare
    found = _numbers(bare, Quantity.HOURS)
    if found is None or found.currency:
        return None
    return Quantities(found.texts, factor)


def with_latin_digits(text: str) -> str:
    """Return a text with digits of all scripts as 0 to 9, and Arabic separators as others that mean the same."""
    if text.isascii():
        return text
    told = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    told = told.replace("\N{ARABIC THOUSANDS SEPARATOR}", " ")
    # A further 0 keeps three decimals from being read as thousands.
    return re.sub(r"\N{ARABIC DECIMAL SEPARATOR}(\d+)", lambda m: f".{m[1]}0", told)
