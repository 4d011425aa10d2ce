"""Scores of answered criteria: one rule for people's marks and for verdicts that combine several evaluators.

`kit.grade_composition` has the same rule for programs' answers, with reasons; a property test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .criteria import Criterion
from .pass_rules import is_full

Shares = Mapping[str, float | None]
"""Criterion -> share in 0..1, or None if the criterion does not apply. A branch may be answered as a whole."""


def weigh(nodes: Sequence[Criterion], shares: Shares) -> float | None:
    """Return the points earned over the points that apply (TAC 4.1), gates included; None if nothing applies.

    A failed gate makes its branch, or the whole, score 0. A last criterion that implies the others earns all of them if
    it passes and no gate of the whole failed.
    """
    earned, worth = _level(nodes, shares)
    if not worth:
        return None
    return 1.0 if last_implies_all(nodes, shares) else min(1.0, earned / worth)


def last_implies_all(nodes: Sequence[Criterion], shares: Shares) -> bool:
    """Return whether the last criterion passed and therefore earns all the others."""
    if not nodes[-1].implies_others or gate_failed(nodes, shares):
        return False
    return bool(is_full(_share(nodes[-1], shares) or 0.0))


def gate_failed(nodes: Sequence[Criterion], shares: Shares) -> bool:
    """Return whether a gate of this level failed. A gate that does not apply does not fail."""
    gates = (_share(node, shares) for node in nodes if node.gate)
    return any(share is not None and not is_full(share) for share in gates)


def behind_gates(nodes: Sequence[Criterion], shares: Shares) -> frozenset[str]:
    """Return the leaves that score 0 because of a failed gate, including the gate."""
    if gate_failed(nodes, shares):
        return frozenset(leaf.id for node in nodes for leaf in node.leaves)
    return frozenset().union(*(behind_gates(node.parts, shares) for node in nodes if node.parts))


def _level(nodes: Sequence[Criterion], shares: Shares) -> tuple[float, float]:
    """Return the points earned, and the points that apply."""
    both = [_points(node, shares) for node in nodes]
    worth = math.fsum(worth for _, worth in both)
    return 0.0 if gate_failed(nodes, shares) else math.fsum(earned for earned, _ in both), worth


def _points(node: Criterion, shares: Shares) -> tuple[float, float]:
    if node.parts and node.id not in shares:
        return _level(node.parts, shares)
    share = shares[node.id]
    return (0.0, 0.0) if share is None else (node.worth * share, node.worth)


def _share(node: Criterion, shares: Shares) -> float | None:
    earned, worth = _points(node, shares)
    return earned / worth if worth else None
