"""Criteria of deliverables: one tree for rubrics (with importances) and checkpoints (with points)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import Field, model_validator

from .base import Frozen, omittable
from .grade_tree import By, CheckpointKind, CriteriaTree, CriterionNode, Importance, asked_of


class Criterion(CriterionNode, Frozen):
    """A node of the tree. A leaf has `points` or an `importance`; a branch has `parts`, and the sum of their points."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    text: str = Field(min_length=1)
    points: float | None = Field(default=None, gt=0)
    importance: Importance | None = None
    by: By = By.PROGRAM
    kind: CheckpointKind | None = omittable(None)
    """Omitted if the criterion has no kind, so that older criteria keep their digests."""
    gate: bool = False
    """If True and the criterion fails, its parent scores 0: the criterion above it, or the whole grade."""
    implies_others: bool = False
    """If True and the criterion passes, all other points are earned, too: TheAgentCompany's last checkpoint (TAC 4.1).
    """
    parts: tuple[Criterion, ...] = ()

    @model_validator(mode="after")
    def _one_weight(self) -> Self:
        if self.parts:
            if self.kind is not None:
                raise ValueError(f"criterion {self.id}: give a kind to each of its parts, not to the criterion")
            total = sum(p.worth for p in self.parts)
            if self.points is not None and abs(self.points - total) > 1e-9:
                raise ValueError(
                    f"criterion {self.id}: it has {self.points:g} points, but its parts add up to {total:g}"
                )
        elif (self.points is None) == (self.importance is None):
            raise ValueError(f"criterion {self.id}: give either points or an importance")
        return self

    def with_parts(self, parts: tuple[Self, ...]) -> Self:
        """Return this branch with only the given parts; its points are their sum."""
        return self.model_copy(update={"parts": parts, "points": None})


class Criteria(CriteriaTree, Frozen):
    """A whole tree of criteria. Ids are unique; at most one criterion, the last, implies the others."""

    criteria: tuple[Criterion, ...] = ()

    @model_validator(mode="after")
    def _unique(self) -> Self:
        seen: set[str] = set()

        def walk(nodes: tuple[Criterion, ...]) -> None:
            for node in nodes:
                if node.id in seen:
                    raise ValueError(f"criterion id {node.id!r} is used twice")
                seen.add(node.id)
                walk(node.parts)

        walk(self.criteria)
        implying = [c for top in self.criteria for c in _walk(top) if c.implies_others]
        if any(c is not self.criteria[-1] for c in implying):
            raise ValueError("implies_others is allowed only for the last criterion")
        return self

    @property
    def leaves(self) -> tuple[Criterion, ...]:
        return tuple(leaf for c in self.criteria for leaf in c.leaves)

    def asked_of(self, by: str) -> Criteria:
        """Return the criteria that one kind of evaluator decides, with their branches."""
        return Criteria(criteria=asked_of(self.criteria, by))


def _walk(node: Criterion) -> Iterator[Criterion]:
    yield node
    for part in node.parts:
        yield from _walk(part)
