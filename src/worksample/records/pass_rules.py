"""What counts as passed: a share that is full, a holistic vote that accepts. The only place that says so.

The rules are one comparison each, so they serve a number, a numpy array and a polars expression alike. A rubric is
completed by its criteria: `metrics.rubric_scores`.
"""

from __future__ import annotations

from typing import Any

FULL = 1.0 - 1e-9
"""Sums of shares miss 1 by rounding alone."""
ACCEPTED = 2
"""Of a holistic vote: 2 is as good as the reference, 3 is better (RLI 3.4)."""


def is_full(share: Any) -> Any:
    """Full credit: ALE's full pass, TheAgentCompany's S_full."""
    return share >= FULL


def is_accepted(vote: Any) -> Any:
    """Whether a reasonable client would accept it."""
    return vote >= ACCEPTED


def partial_credit(score: Any, passed: Any) -> Any:
    """TheAgentCompany's S_partial (4.1): half the share of points, half the pass."""
    return 0.5 * score + 0.5 * passed
