"""Grades: trees of named parts. Programs, checkpoints and rubrics all use this form."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from .base import Frozen, Moment, omittable
from .grade_tree import GradeTree, Importance, PartNode, SkipReason, leaves_of


class PartPayload(PartNode, Frozen):
    """The result of one criterion. `fraction` is the earned share of its `points`, from 0 to 1. `fraction` is None if
    the criterion was skipped.
    """

    # Accept the kit's plain parts, which are not records.
    model_config = ConfigDict(from_attributes=True)

    name: str
    points: float = Field(default=1.0, gt=0)
    fraction: float | None = Field(default=None, ge=0, le=1)
    importance: Importance | None = None
    gate: bool = False
    reason: str = Field(default="", max_length=20_000)
    skip: SkipReason | None = None
    at: Moment | None = omittable(None)
    """The time at which the work earned the points. Omitted if the submission does not show this time."""
    parts: tuple[PartPayload, ...] = ()

    @model_validator(mode="after")
    def _result_or_skip(self) -> Self:
        if (self.fraction is None) != (self.skip is not None):
            raise ValueError(f"part {self.name!r}: give either a fraction or the reason why the part was skipped")
        return self


class GradePayload(GradeTree, Frozen):
    """A grade with a `score` from 0 to 1. The composition in `grade.py` computes the score from the parts."""

    type: Literal["grade"] = "grade"
    score: float = Field(ge=0, le=1)
    parts: tuple[PartPayload, ...] = ()
    composition: str = ""
    reason: str = Field(default="", max_length=20_000)

    @property
    def leaves(self) -> tuple[PartPayload, ...]:
        """Return the results of the criteria that have no parts."""
        return tuple(leaves_of(self.parts))
