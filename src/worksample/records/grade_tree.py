"""Criteria and grades as trees: their terms and their arithmetic, without the validation of records.

A grader's process needs only this, and starts in a third of the time without pydantic: `worksample.kit` has plain
values of the same shape, which become records on the platform's side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Self, TypeVar

from .pass_rules import is_full, partial_credit


class Importance(StrEnum):
    """The weight of a rubric's criterion (UpBench A.3). Passing a pitfall means that it is absent."""

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
    """What a checkpoint tests (TAC 4). A criterion need not have a kind."""

    ACTION = "action"
    """Whether something was done: a tool used, a page visited, a state changed."""
    ACCURACY = "accuracy"
    """Whether the result is right and complete."""
    COLLABORATION = "collaboration"
    """Whether colleagues were asked, informed and heeded, and results shared."""


class SkipReason(StrEnum):
    """Why a part has no result."""

    NOT_APPLICABLE = "not_applicable"
    """It is removed from the denominator."""
    CANNOT_JUDGE = "cannot_judge"
    """The submission stays ungraded until someone can judge it."""


class CriterionNode:
    """A criterion's computed values."""

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
        """Return the points of a leaf (1 if only an importance is given), or the sum over a branch."""
        if self.parts:
            return sum(p.worth for p in self.parts)
        return self.points if self.points is not None else 1.0

    @property
    def leaves(self) -> tuple[Self, ...]:
        return tuple(leaf for p in self.parts for leaf in p.leaves) if self.parts else (self,)

    def left(self, parts: tuple[Self, ...]) -> Self:
        """Return this branch with these parts only; its worth is their sum."""
        raise NotImplementedError


Node = TypeVar("Node", bound=CriterionNode)


class CriteriaTree:
    """The computed values of a tree of criteria."""

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
        """Return who decides the criteria, as values of `By`."""
        return frozenset(leaf.by.value for leaf in self.leaves)


def asked_of(nodes: Sequence[Node], by: str) -> tuple[Node, ...]:
    """Return the tree without criteria that others decide; a branch is worth the sum of its remaining parts."""
    kept: list[Node] = []
    for node in nodes:
        parts = asked_of(node.parts, by)
        if parts:
            kept.append(node.left(parts))
        elif not node.parts and node.by.value == by:
            kept.append(node)
    return tuple(kept)


class PartNode:
    """The computed values of a part of a grade."""

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
    """The values computed from a grade's score and parts."""

    __slots__ = ()
    if TYPE_CHECKING:
        score: float
        reason: str

        @property
        def parts(self) -> tuple[PartNode, ...]: ...

    @property
    def full(self) -> bool:
        """Return whether it is full credit: ALE's full pass, TAC's S_full."""
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
        """Return whether it has parts but none applies: then it has no score."""
        return bool(self.parts) and all(p.skip is SkipReason.NOT_APPLICABLE for p in self.leaves)


def leaves_of(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts without their branches."""
    for part in parts:
        # Who skipped a branch has skipped what is below it.
        if part.parts and part.skip is None:
            yield from leaves_of(part.parts)
        else:
            yield part
