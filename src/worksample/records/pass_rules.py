"""The rules of passing: full credit, or a holistic vote that accepts the work. No other module decides what passes.

Each rule is one comparison, so that it can be applied to a number, a numpy array or a polars expression. The rules for
rubrics are in `metrics.rubric_scores`.
"""

from __future__ import annotations

from typing import Any

FULL = 1.0 - 1e-9
"""Smallest share that counts as full credit. It is below 1 because sums of shares have rounding errors."""
ACCEPTED = 2
"""Lowest holistic vote that accepts the work: 2 means as good as the reference, 3 means better (RLI 3.4)."""


def is_full(share: Any) -> Any:
    """Return whether a share is full credit. ALE calls this a full pass, TheAgentCompany calls it S_full."""
    return share >= FULL


def is_accepted(vote: Any) -> Any:
    """Return whether a holistic vote means that a reasonable client would accept the work."""
    return vote >= ACCEPTED


def partial_credit(score: Any, passed: Any) -> Any:
    """Return S_partial of TheAgentCompany (TAC 4.1): half of the score, plus one half if the work passed."""
    return 0.5 * score + 0.5 * passed
