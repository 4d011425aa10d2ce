"""Money: parse, round, format."""

from decimal import ROUND_UP, Decimal


def parse_amount(text):
    return Decimal(text.replace("€", "").replace("EUR", "").replace(",", "").strip())


def round_cents(value):
    return Decimal(value).quantize(Decimal("0.01"), rounding=ROUND_UP)


def format_amount(value, comma=False):
    return f"{round_cents(value):,.2f}"
