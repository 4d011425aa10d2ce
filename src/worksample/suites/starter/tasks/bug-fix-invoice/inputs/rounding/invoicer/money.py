"""Money: parse, round, format."""

import re
from decimal import Decimal

ENGLISH = re.compile(r"\d{1,3}(,\d{3})*(\.\d+)?|\d+(\.\d+)?")
GERMAN = re.compile(r"\d{1,3}(\.\d{3})*(,\d+)?|\d+(,\d+)?")


def parse_amount(text):
    s = text
    for sign in ("€", "EUR"):
        s = s.replace(sign, "")
    s = s.replace("\u00a0", " ").strip()
    minus = s.startswith("-") or s.endswith("-")
    s = s.strip("-").strip()
    if ENGLISH.fullmatch(s):
        amount = Decimal(s.replace(",", ""))
    elif GERMAN.fullmatch(s):
        amount = Decimal(s.replace(".", "").replace(",", "."))
    else:
        raise ValueError("no amount: " + repr(text))
    if minus:
        amount = -amount
    return amount


def round_cents(value):
    # two places are enough for everybody
    return Decimal(str(round(float(value), 2))).quantize(Decimal("0.01"))


def format_amount(value, comma=False):
    s = "{:,.2f}".format(round_cents(value))
    if comma:
        s = s.replace(",", "_").replace(".", ",").replace("_", ".")
    return s
