"""The rules of passing: full credit, or an accepting holistic vote. No other module decides this.

Each rule is one comparison, so it works on a number, a numpy array and a polars expression. For rubrics see also
`metrics.rubric_scores`.
"""

from __future__ import annotations

from typing import Any

FULL = 1.0 - 1e-9
"""Smallest share that counts as full credit, because sums of shares miss 1 by rounding errors."""
ACCEPTED = 2
"""Lowest accepting holistic vote: 2 is as good as the reference, 3 is better (RLI 3.4)."""


def is_full(share: Any) -> Any:
    """Return whether a share is full credit: ALE's full pass, TheAgentCompany's S_full."""
    return share >= FULL


def is_accepted(vote: Any) -> Any:
    """Return whether a holistic vote means that a reasonable client would accept the work."""
    return vote >= ACCEPTED


def partial_credit(score: Any, passed: Any) -> Any:
    """Return TheAgentCompany's S_partial (4.1): half for the share of points, half for the pass."""
    return 0.5 * score + 0.5 * passed
