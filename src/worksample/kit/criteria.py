"""Criteria in the form that a grader receives: the tree of the task's `criteria.toml`, already checked by the
platform.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from worksample.records.grade_tree import By, CheckpointKind, CriteriaTree, CriterionNode, Importance


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCriterion(CriterionNode):
    """A node of the tree, with the fields of the record."""

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
        """Read the record's JSON."""
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
        """Return this branch with only these parts; it is worth their sum."""
        return replace(self, parts=parts, points=None)


@dataclass(frozen=True, slots=True)
class CaseCriteria(CriteriaTree):
    """The whole tree."""

    criteria: tuple[CaseCriterion, ...] = ()

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> CaseCriteria:
        """Read the record's JSON."""
        return cls(tuple(map(CaseCriterion.of, plain.get("criteria", ()))))
