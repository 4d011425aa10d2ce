"""The rules of passing: a full share, or an accepting holistic vote. No other module decides this.

The rules are one comparison each, so they work on a number, a numpy array and a polars expression alike. For rubrics
see also `metrics.rubric_scores`.
"""

from __future__ import annotations

from typing import Any

FULL = 1.0 - 1e-9
"""Least share of full credit: sums of shares miss 1 by rounding."""
ACCEPTED = 2
"""Least accepting holistic vote: 2 is as good as the reference, 3 is better (RLI 3.4)."""


def is_full(share: Any) -> Any:
    """Return whether a share is full credit: ALE's full pass, TheAgentCompany's S_full."""
    return share >= FULL


def is_accepted(vote: Any) -> Any:
    """Return whether a reasonable client would accept the work."""
    return vote >= ACCEPTED


def partial_credit(score: Any, passed: Any) -> Any:
    """Return TheAgentCompany's S_partial (4.1): half the share of points, half the pass."""
    return 0.5 * score + 0.5 * passed
