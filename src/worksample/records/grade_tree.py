"""Criteria and grades as trees: their enums and their arithmetic, without the validation of records.

A grader process imports only this module and not pydantic, so that it starts about three times faster. The classes of
`worksample.kit` have the same fields as the records, and the platform converts them to records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Self, TypeVar

from .pass_rules import is_full, partial_credit


class Importance(StrEnum):
    """Importance of a criterion in a rubric (UpBench A.3). A pitfall is a mistake: the criterion passes if the mistake
    was not made.
    """

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
    """Kind of a checkpoint (TAC 4). The kind is optional."""

    ACTION = "action"
    """The agent did something: used a tool, visited a page, changed a state."""
    ACCURACY = "accuracy"
    """The result is right and complete."""
    COLLABORATION = "collaboration"
    """The agent asked colleagues, informed them, followed their answers, or shared results."""


class SkipReason(StrEnum):
    """Reason why a part of a grade has no result."""

    NOT_APPLICABLE = "not_applicable"
    """The criterion does not apply to this work. Its points do not count when the score is computed."""
    CANNOT_JUDGE = "cannot_judge"
    """The evaluator could not judge the criterion. The submission stays ungraded until an evaluator can."""


class CriterionNode:
    """Base class of criteria, with the values that are computed from their fields."""

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
        """Return the points of this criterion. If it has parts, return the sum of their points. If it has only an
        importance, return 1.
        """
        if self.parts:
            return sum(p.worth for p in self.parts)
        return self.points if self.points is not None else 1.0

    @property
    def leaves(self) -> tuple[Self, ...]:
        return tuple(leaf for p in self.parts for leaf in p.leaves) if self.parts else (self,)

    def with_parts(self, parts: tuple[Self, ...]) -> Self:
        """Return this criterion with only the given parts. Its points are the sum of their points."""
        raise NotImplementedError


Node = TypeVar("Node", bound=CriterionNode)


class CriteriaTree:
    """Base class of trees of criteria, with the values that are computed from the criteria."""

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
        """Return the kinds of evaluators that the criteria name, as values of `By`."""
        return frozenset(leaf.by.value for leaf in self.leaves)


def asked_of(nodes: Sequence[Node], by: str) -> tuple[Node, ...]:
    """Return the tree with only the criteria that the kind of evaluator `by` decides. A criterion with parts is worth
    the sum of its remaining parts.
    """
    kept: list[Node] = []
    for node in nodes:
        parts = asked_of(node.parts, by)
        if parts:
            kept.append(node.with_parts(parts))
        elif not node.parts and node.by.value == by:
            kept.append(node)
    return tuple(kept)


class PartNode:
    """Base class of the parts of a grade, with the values that are computed from their fields."""

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
    """Base class of grades, with the values that are computed from the score and the parts."""

    __slots__ = ()
    if TYPE_CHECKING:
        score: float
        reason: str

        @property
        def parts(self) -> tuple[PartNode, ...]: ...

    @property
    def full(self) -> bool:
        """Return whether the grade is full credit. ALE calls this a full pass, TheAgentCompany calls it S_full."""
        return bool(is_full(self.score))

    @property
    def partial(self) -> float:
        """Return S_partial of TheAgentCompany (TAC 4.1): half of the score, plus one half if the grade is full
        credit.
        """
        return float(partial_credit(self.score, self.full))

    @property
    def leaves(self) -> tuple[PartNode, ...]:
        """Return the parts of the grade that have no parts themselves."""
        return tuple(leaves_of(self.parts))

    @property
    def undecided(self) -> tuple[str, ...]:
        """Return the names of the parts that an evaluator could not judge."""
        return tuple(p.name for p in self.leaves if p.skip is SkipReason.CANNOT_JUDGE)

    @property
    def void(self) -> bool:
        """Return whether the grade has parts but none of their criteria applies. Such a grade has no score."""
        return bool(self.parts) and all(p.skip is SkipReason.NOT_APPLICABLE for p in self.leaves)


def leaves_of(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts at the lowest level of the tree. A skipped part counts as one, whatever its own parts are."""
    for part in parts:
        # Skipping a branch skips everything below it.
        if part.parts and part.skip is None:
            yield from leaves_of(part.parts)
        else:
            yield part
