"""Criteria and grades as trees: their terms and their arithmetic, without the validation of records.

A grader's process needs only this module, and starts in a third of the time without pydantic: `worksample.kit` has
plain values of the same shape, which the platform converts to records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Self, TypeVar

from .pass_rules import is_full, partial_credit


class Importance(StrEnum):
    """Weight of a rubric's criterion (UpBench A.3). A pitfall passes if it is absent."""

    CRITICAL = "critical"
    IMPORTANT = "important"
    OPTIONAL = "optional"
    PITFALL = "pitfall"


class By(StrEnum):
    """The kind of evaluator that decides a criterion."""

    PROGRAM = "program"
    JUDGE = "judge"
    PERSON = "person"


class CheckpointKind(StrEnum):
    """Kind of a checkpoint (TAC 4). Criteria may have none."""

    ACTION = "action"
    """Something was done: a tool used, a page visited, a state changed."""
    ACCURACY = "accuracy"
    """The result is right and complete."""
    COLLABORATION = "collaboration"
    """Colleagues were asked, informed and heeded, and results shared."""


class SkipReason(StrEnum):
    """Reason why a part has no result."""

    NOT_APPLICABLE = "not_applicable"
    """The part is left out of the score's denominator."""
    CANNOT_JUDGE = "cannot_judge"
    """The submission stays ungraded until an evaluator can judge the part."""


class CriterionNode:
    """Computed values of a criterion."""

    __slots__ = ()
    if TYPE_CHECKING:
        id: str
        points: float | None
        importance: Importance | None
        by: By
        kind: CheckpointKind | None
        gate: bool
        implies_others: bool
        parts: tuple[Self, ...]

    @property
    def worth(self) -> float:
        """Return the points of a leaf (1 if it has only an importance), or the sum over a branch."""
        if self.parts:
            return sum(p.worth for p in self.parts)
        return self.points if self.points is not None else 1.0

    @property
    def leaves(self) -> tuple[Self, ...]:
        return tuple(leaf for p in self.parts for leaf in p.leaves) if self.parts else (self,)

    def with_parts(self, parts: tuple[Self, ...]) -> Self:
        """Return this branch with only the given parts; its points are their sum."""
        raise NotImplementedError


Node = TypeVar("Node", bound=CriterionNode)


class CriteriaTree:
    """Computed values of a tree of criteria."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def criteria(self) -> tuple[CriterionNode, ...]: ...

    @property
    def leaves(self) -> tuple[CriterionNode, ...]:
        return tuple(leaf for c in self.criteria for leaf in c.leaves)

    @property
    def total(self) -> float:
        return sum(c.worth for c in self.criteria)

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of evaluators that decide the criteria, as values of `By`."""
        return frozenset(leaf.by.value for leaf in self.leaves)


def asked_of(nodes: Sequence[Node], by: str) -> tuple[Node, ...]:
    """Return the tree with only the criteria that `by` decides; a branch is worth the sum of its remaining parts."""
    kept: list[Node] = []
    for node in nodes:
        parts = asked_of(node.parts, by)
        if parts:
            kept.append(node.with_parts(parts))
        elif not node.parts and node.by.value == by:
            kept.append(node)
    return tuple(kept)


class PartNode:
    """Computed values of a part of a grade."""

    __slots__ = ()
    if TYPE_CHECKING:
        name: str
        points: float
        fraction: float | None
        gate: bool
        skip: SkipReason | None
        at: datetime | None
        parts: tuple[Self, ...]

    @property
    def passed(self) -> bool:
        return self.fraction is not None and bool(is_full(self.fraction))


Part = TypeVar("Part", bound=PartNode)


class GradeTree:
    """Values computed from a grade's score and parts."""

    __slots__ = ()
    if TYPE_CHECKING:
        score: float
        reason: str

        @property
        def parts(self) -> tuple[PartNode, ...]: ...

    @property
    def full(self) -> bool:
        """Return whether the grade is full credit: ALE's full pass, TAC's S_full."""
        return bool(is_full(self.score))

    @property
    def partial(self) -> float:
        """Return TAC's S_partial (4.1)."""
        return float(partial_credit(self.score, self.full))

    @property
    def leaves(self) -> tuple[PartNode, ...]:
        """Return the criteria without their branches."""
        return tuple(leaves_of(self.parts))

    @property
    def undecided(self) -> tuple[str, ...]:
        """Return the names of parts that nobody could judge."""
        return tuple(p.name for p in self.leaves if p.skip is SkipReason.CANNOT_JUDGE)

    @property
    def void(self) -> bool:
        """Return whether no part applies, although the grade has parts: it then has no score."""
        return bool(self.parts) and all(p.skip is SkipReason.NOT_APPLICABLE for p in self.leaves)


def leaves_of(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the leaves below these parts."""
    for part in parts:
        # Skipping a branch skips everything below it.
        if part.parts and part.skip is None:
            yield from leaves_of(part.parts)
        else:
            yield part
