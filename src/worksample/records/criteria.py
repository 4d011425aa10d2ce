"""What is asked of a deliverable: one tree for rubrics (importance) and checkpoints (points)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import Field, model_validator

from .base import Frozen, omittable
from .grade_tree import By, CheckpointKind, CriteriaTree, CriterionNode, Importance, asked_of


class Criterion(CriterionNode, Frozen):
    """A node of the tree. A leaf has `points` or an `importance`; a branch has `parts` and their sum."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    text: str = Field(min_length=1)
    points: float | None = Field(default=None, gt=0)
    importance: Importance | None = None
    by: By = By.PROGRAM
    kind: CheckpointKind | None = omittable(None)
    """Not written where there is none: older criteria keep their digests."""
    gate: bool = False
    """Failing it makes 0 what it is a part of: the criterion above it, or the whole."""
    implies_others: bool = False
    """Passing it gives every other point too: TheAgentCompany's last checkpoint (TAC 4.1)."""
    parts: tuple[Criterion, ...] = ()

    @model_validator(mode="after")
    def _one_weight(self) -> Self:
        if self.parts:
            if self.kind is not None:
                raise ValueError(f"criterion {self.id}: it has parts, and its kind is theirs: give each of them one")
            total = sum(p.worth for p in self.parts)
            if self.points is not None and abs(self.points - total) > 1e-9:
                raise ValueError(f"criterion {self.id}: points {self.points:g} but its parts add up to {total:g}")
        elif (self.points is None) == (self.importance is None):
            raise ValueError(f"criterion {self.id}: give either points or an importance")
        return self

    def left(self, parts: tuple[Self, ...]) -> Self:
        """This branch with these parts alone; it is worth what they are."""
        return self.model_copy(update={"parts": parts, "points": None})


class Criteria(CriteriaTree, Frozen):
    """The whole tree; ids are unique in it, at most one criterion implies the others, and it is the last."""

    criteria: tuple[Criterion, ...] = ()

    @model_validator(mode="after")
    def _unique(self) -> Self:
        seen: set[str] = set()

        def walk(nodes: tuple[Criterion, ...]) -> None:
            for node in nodes:
                if node.id in seen:
                    raise ValueError(f"criterion id {node.id!r} stands twice")
                seen.add(node.id)
                walk(node.parts)

        walk(self.criteria)
        implying = [c for top in self.criteria for c in _walk(top) if c.implies_others]
        if any(c is not self.criteria[-1] for c in implying):
            raise ValueError("implies_others belongs to the last criterion only")
        return self

    @property
    def leaves(self) -> tuple[Criterion, ...]:
        return tuple(leaf for c in self.criteria for leaf in c.leaves)

    def asked_of(self, by: str) -> Criteria:
        """Those that one kind of evaluator decides, with the branches over them."""
        return Criteria(criteria=asked_of(self.criteria, by))


def _walk(node: Criterion) -> Iterator[Criterion]:
    yield node
    for part in node.parts:
        yield from _walk(part)
