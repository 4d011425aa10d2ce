"""Criteria of deliverables: one kind of tree for rubrics (with importances) and for checkpoints (with points)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import Field, model_validator

from .base import Frozen, omittable
from .grade_tree import By, CheckpointKind, CriteriaTree, CriterionNode, Importance, asked_of


class Criterion(CriterionNode, Frozen):
    """A criterion in the tree. A criterion without parts has `points` or an `importance`. A criterion with `parts` is
    worth the sum of their points.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    text: str = Field(min_length=1)
    points: float | None = Field(default=None, gt=0)
    importance: Importance | None = None
    by: By = By.PROGRAM
    kind: CheckpointKind | None = omittable(None)
    """Kind of the checkpoint. Omitted if the criterion has no kind, so that older criteria keep their digests."""
    gate: bool = False
    """If true and this criterion fails, the criterion above scores 0. A failed gate at the top level sets the whole
    grade to 0.
    """
    implies_others: bool = False
    """If true and this criterion passes, all other criteria earn their points, too. TheAgentCompany's last checkpoint
    works in this way (TAC 4.1).
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
        """Return this criterion with only the given parts. Its points are the sum of their points."""
        return self.model_copy(update={"parts": parts, "points": None})


class Criteria(CriteriaTree, Frozen):
    """The whole tree of criteria. All ids are different. Only the last criterion of the top level may imply the
    others.
    """

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
        """Return the tree with only the criteria that the kind of evaluator `by` decides."""
        return Criteria(criteria=asked_of(self.criteria, by))


def _walk(node: Criterion) -> Iterator[Criterion]:
    yield node
    for part in node.parts:
        yield from _walk(part)
