"""Amounts of US dollars as text: the same everywhere, so that a small cost is $0.0001 on every page and never $0.00."""

from __future__ import annotations

import math

LARGEST = 1e8
"""US dollars; a single price above it is taken for a mistake."""
CENTS = 2
"""Decimals of an amount of a cent or more."""
_FINE, _FINEST = 4, 8


def dollar_places(amount: float) -> int:
    """Decimals that an amount prints with: a small one has enough of them not to look like nothing."""
    size = abs(amount)
    if size == 0 or size >= 10**-CENTS or not math.isfinite(size):
        return CENTS
    return min(max(_FINE, -math.floor(math.log10(size))), _FINEST)


def in_dollars(amount: float) -> str:
    """`$1,200.00`, `$0.0001`."""
    return f"${amount:,.{dollar_places(amount)}f}"
