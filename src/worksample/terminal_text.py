"""Format amounts and untrusted text for terminals and notebooks."""

from __future__ import annotations

from worksample.dollar_text import in_dollars
from worksample.errors import is_shown, plain_spaces


def printable(value: object) -> str:
    """Return text without control characters, so that names from agents and files cannot control a terminal."""
    text = plain_spaces("" if value is None else str(value))
    return "".join(c if is_shown(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def dollars(amount: float | None) -> str:
    """Return `$1.20`, or "unknown"."""
    if amount is None:
        return "unknown"
    return in_dollars(amount)


def cost_range(
    amount: float | None, unpriced: int = 0, at_most: float | None = None, *, full_price: bool = False
) -> str:
    """Return a cost with its unknown part: `$1.20 + 2 unpriced`, `$1.20, at most $1.50`, `at most $1.20`.

    `unpriced`: the number of calls without a price; `at_most`: given if the amount is partly estimated or unsettled;
    `full_price`: some cached tokens are charged at the full price, so that the amount is itself an upper bound.
    """
    said = "not known" if amount is None and unpriced else dollars(amount or 0.0)
    if full_price and amount and at_most is None:
        said = f"at most {said}"
    missing = f" + {unpriced} unpriced" if unpriced and amount is not None else ""
    return f"{said}{missing}" + (f", at most {dollars(at_most)}" if at_most is not None else "")


def duration(seconds: float | None) -> str:
    """Return `1h 05m`, `3m 20s`, `4.2s`, or "unknown"."""
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {rest:02d}s"
