"""Criteria as a grader receives them: the tree of the task's `criteria.toml`, which the platform has already
validated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from worksample.records.grade_tree import By, CheckpointKind, CriteriaTree, CriterionNode, Importance


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCriterion(CriterionNode):
    """A criterion in the tree, with the fields of the record `Criterion` but without pydantic."""

    id: str
    text: str
    points: float | None = None
    importance: Importance | None = None
    by: By = By.PROGRAM
    kind: CheckpointKind | None = None
    gate: bool = False
    implies_others: bool = False
    parts: tuple[CaseCriterion, ...] = ()

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> CaseCriterion:
        """Build a criterion from the JSON form of the record `Criterion`."""
        weight, kind = plain.get("importance"), plain.get("kind")
        return cls(
            **{
                **plain,
                "importance": None if weight is None else Importance(weight),
                "by": By(plain.get("by", By.PROGRAM)),
                "kind": None if kind is None else CheckpointKind(kind),
                "parts": tuple(map(cls.of, plain.get("parts", ()))),
            }
        )

    def with_parts(self, parts: tuple[CaseCriterion, ...]) -> CaseCriterion:
        """Return this criterion with only the given parts. Its points are the sum of their points."""
        return replace(self, parts=parts, points=None)


@dataclass(frozen=True, slots=True)
class CaseCriteria(CriteriaTree):
    """The whole tree of a task's criteria, with the fields of the record `Criteria` but without pydantic."""

    criteria: tuple[CaseCriterion, ...] = ()

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> CaseCriteria:
        """Build the tree from the JSON form of the record `Criteria`."""
        return cls(tuple(map(CaseCriterion.of, plain.get("criteria", ()))))
