"""Amounts and foreign text as terminals and notebooks show them."""

from __future__ import annotations

from worksample.dollar_text import in_dollars
from worksample.errors import is_shown, plain_spaces


def printable(value: object) -> str:
    """Text without control characters: what agents and files named cannot steer a terminal. Every space is a space."""
    text = plain_spaces("" if value is None else str(value))
    return "".join(c if is_shown(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def dollars(amount: float | None) -> str:
    """`$1.20`, or "unknown"."""
    if amount is None:
        return "unknown"
    return in_dollars(amount)


def cost_range(
    amount: float | None, unpriced: int = 0, at_most: float | None = None, *, full_price: bool = False
) -> str:
    """`$1.20`, with how much of it is not known: `$1.20 + 2 unpriced`, `$1.20, at most $1.50`, `at most $1.20`.

    `unpriced` counts what has no price; `at_most` is given where the amount is in part an estimate or not settled;
    `full_price`: some of it are cached tokens at the price of fresh ones, so that the amount is itself an upper bound.
    """
    said = "not known" if amount is None and unpriced else dollars(amount or 0.0)
    if full_price and amount and at_most is None:
        said = f"at most {said}"
    missing = f" + {unpriced} unpriced" if unpriced and amount is not None else ""
    return f"{said}{missing}" + (f", at most {dollars(at_most)}" if at_most is not None else "")


def duration(seconds: float | None) -> str:
    """`1h 05m`, `3m 20s`, `4.2s`, or "unknown"."""
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {rest:02d}s"
