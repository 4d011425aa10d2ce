"""Amounts and foreign text as terminals and notebooks show them."""

from __future__ import annotations

from worksample.errors import is_shown, plain_spaces


def printable(value: object) -> str:
    """Text without control characters: what agents and files named cannot steer a terminal. Every space is a space."""
    text = plain_spaces("" if value is None else str(value))
    return "".join(c if is_shown(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def dollars(amount: float | None) -> str:
    """`$1.20`, or "unknown"."""
    if amount is None:
        return "unknown"
    return f"${amount:,.2f}" if amount == 0 or amount >= 0.01 else f"${amount:.4f}"


def bounded(amount: float | None, unpriced: int = 0, at_most: float | None = None) -> str:
    """`$1.20`, with how much of it is not known: `$1.20 + 2 unpriced`, `$1.20, at most $1.50`.

    `unpriced` counts what has no price; `at_most` is given where the amount is in part an estimate or not settled.
    """
    said = "not known" if amount is None and unpriced else dollars(amount or 0.0)
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
