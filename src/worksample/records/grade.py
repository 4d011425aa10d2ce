"""A grade: a tree of named parts. Programs, checkpoints and rubrics all give this one payload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from .base import Frozen
from .criteria import Importance
from .passing import is_full, partial_credit


class Skip(StrEnum):
    """Why a part has no result."""

    NOT_APPLICABLE = "not_applicable"
    """Leaves the denominator."""
    CANNOT_JUDGE = "cannot_judge"
    """Leaves the submission ungraded until someone can."""


class GradePart(Frozen):
    """One criterion's result. `fraction` of its `points` was earned, in 0..1; None where it was skipped."""

    name: str
    points: float = Field(default=1.0, gt=0)
    fraction: float | None = Field(default=None, ge=0, le=1)
    importance: Importance | None = None
    gate: bool = False
    reason: str = Field(default="", max_length=20_000)
    skip: Skip | None = None
    parts: tuple[GradePart, ...] = ()

    @model_validator(mode="after")
    def _result_or_skip(self) -> Self:
        if (self.fraction is None) != (self.skip is not None):
            raise ValueError(f"part {self.name!r}: give a fraction, or why it was skipped")
        return self

    @property
    def passed(self) -> bool:
        return self.fraction is not None and bool(is_full(self.fraction))


class Grade(Frozen):
    """`score` in 0..1. How parts make a score is the composition's affair; the parts say how it came about."""

    type: Literal["grade"] = "grade"
    score: float = Field(ge=0, le=1)
    parts: tuple[GradePart, ...] = ()
    composition: str = ""
    reason: str = Field(default="", max_length=20_000)

    @property
    def full(self) -> bool:
        """Full credit: ALE's full pass, TAC's S_full."""
        return bool(is_full(self.score))

    @property
    def partial(self) -> float:
        """TAC's S_partial (4.1)."""
        return float(partial_credit(self.score, self.full))

    @property
    def leaves(self) -> tuple[GradePart, ...]:
        """The criteria, without the branches over them."""
        return tuple(_leaves(self.parts))

    @property
    def undecided(self) -> tuple[str, ...]:
        """Names of the parts that nobody could judge."""
        return tuple(p.name for p in self.leaves if p.skip is Skip.CANNOT_JUDGE)

    @property
    def void(self) -> bool:
        """Whether it has parts and none of them applies: then there is nothing to give a score for."""
        return bool(self.parts) and all(p.skip is Skip.NOT_APPLICABLE for p in self.leaves)


def _leaves(parts: Iterable[GradePart]) -> Iterator[GradePart]:
    for part in parts:
        # Who skipped a branch has skipped what is below it.
        if part.parts and part.skip is None:
            yield from _leaves(part.parts)
        else:
            yield part
