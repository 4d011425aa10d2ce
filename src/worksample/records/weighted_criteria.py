"""The score of answered criteria. People's marks and verdicts that combine several evaluators use this rule.

`kit.grade_composition` implements the same rule for graders, with reasons. A property test compares both
implementations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .criteria import Criterion
from .pass_rules import is_full

Shares = Mapping[str, float | None]
"""The answers: share from 0 to 1 by criterion, or None if the criterion does not apply. A criterion with parts may be
answered as a whole.
"""


def weigh(nodes: Sequence[Criterion], shares: Shares) -> float | None:
    """Return the earned points divided by the points of all criteria that apply, gates included (TAC 4.1). Return None
    if no criterion applies.

    A failed gate sets the criterion above it to 0, or the whole score if the gate is at the top level. If the last
    criterion has `implies_others` and passes, the score is 1, unless a gate at the top level failed.
    """
    earned, worth = _level(nodes, shares)
    if not worth:
        return None
    return 1.0 if last_implies_all(nodes, shares) else min(1.0, earned / worth)


def last_implies_all(nodes: Sequence[Criterion], shares: Shares) -> bool:
    """Return whether the last criterion passed and therefore earns the points of all other criteria."""
    if not nodes[-1].implies_others or gate_failed(nodes, shares):
        return False
    return bool(is_full(_share(nodes[-1], shares) or 0.0))


def gate_failed(nodes: Sequence[Criterion], shares: Shares) -> bool:
    """Return whether a gate among these criteria failed. A gate that does not apply never fails."""
    gates = (_share(node, shares) for node in nodes if node.gate)
    return any(share is not None and not is_full(share) for share in gates)


def behind_gates(nodes: Sequence[Criterion], shares: Shares) -> frozenset[str]:
    """Return the ids of all criteria without parts that score 0 because of a failed gate. The ids of the failed gates
    are included.
    """
    if gate_failed(nodes, shares):
        return frozenset(leaf.id for node in nodes for leaf in node.leaves)
    return frozenset().union(*(behind_gates(node.parts, shares) for node in nodes if node.parts))


def _level(nodes: Sequence[Criterion], shares: Shares) -> tuple[float, float]:
    """Return the points earned by these criteria, and the points of the criteria that apply."""
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
