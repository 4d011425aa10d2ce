"""Amounts of money."""

import re
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
_ENGLISH = re.compile(r"\d{1,3}(,\d{3})*(\.\d+)?|\d+(\.\d+)?")
_GERMAN = re.compile(r"\d{1,3}(\.\d{3})*(,\d+)?|\d+(,\d+)?")


def parse_amount(text):
    """The amount in a text."""
    plain = text.replace("€", "").replace("EUR", "").replace("\u00a0", " ").strip()
    negative = plain.startswith("-") or plain.endswith("-")
    plain = plain.strip("-").strip()
    if _ENGLISH.fullmatch(plain):
        found = Decimal(plain.replace(",", ""))
    elif _GERMAN.fullmatch(plain):
        found = Decimal(plain.replace(".", "").replace(",", "."))
    else:
        raise ValueError(f"no amount: {text!r}")
    return -found if negative else found


def round_cents(value):
    """Commercial rounding to cents."""
    return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)


def format_amount(value, comma=False):
    """An amount as text."""
    text = f"{round_cents(value):,.2f}"
    return text.translate(str.maketrans(",.", ".,")) if comma else text
