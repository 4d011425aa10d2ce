"""Format of US dollars on all pages: a small cost is $0.0001 and never $0.00."""

from __future__ import annotations

import math

LARGEST = 1e8
"""US dollars above which a single price is taken for a mistake."""
CENTS = 2
"""Decimals of an amount of one cent or more."""
_FINE, _FINEST = 4, 8


def dollar_places(amount: float) -> int:
    """Return the number of decimals for an amount, so that a small amount does not look like zero."""
    size = abs(amount)
    if size == 0 or size >= 10**-CENTS or not math.isfinite(size):
        return CENTS
    return min(max(_FINE, -math.floor(math.log10(size))), _FINEST)


def in_dollars(amount: float) -> str:
    """Return text such as `$1,200.00` or `$0.0001`."""
    return f"${amount:,.{dollar_places(amount)}f}"
