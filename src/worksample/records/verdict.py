"""Verdicts on submissions, and the records that amendments strike. `worksample.results` computes verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from worksample.errors import Cause

from .base import Frozen
from .evaluation import Amendment, AmendmentAction, AmendmentTarget, Evaluation, EvaluatorKind
from .grade import GradePayload


class Standing(StrEnum):
    DECIDED = "decided"
    UNDECIDED = "undecided"
    """The evaluations disagree, or are too few."""
    UNGRADED = "ungraded"
    """No evaluation stands; `reason` says why. Never counted as a score of 0."""


class JudgedBy(StrEnum):
    """Whose answers make a verdict. A judge's answers never replace people's unless asked for."""

    COMBINED = "combined"
    """Each criterion is decided by the kind of evaluator that its `by` names; work without such criteria is judged as a
    whole.
    """
    PEOPLE = "people"
    JUDGE = "judge"
    PROGRAM = "program"

    @property
    def kind(self) -> EvaluatorKind | None:
        """Return the kind of evaluator that answers everything, or None if several do."""
        return _KINDS.get(self)


_KINDS = {
    JudgedBy.PEOPLE: EvaluatorKind.PERSON,
    JudgedBy.JUDGE: EvaluatorKind.JUDGE,
    JudgedBy.PROGRAM: EvaluatorKind.PROGRAM,
}
AWAITED = {EvaluatorKind.PERSON: Cause.PERSON_AWAITED, EvaluatorKind.JUDGE: Cause.JUDGE_AWAITED}
"""Cause of an ungraded verdict that waits for an evaluation. It is not a failure, and never counted as one."""


class Verdict(Frozen):
    """The result of a submission, computed and never stored.

    `score` and `passed` are None unless the verdict is decided. `passed` is also None if no criterion of a rubric
    gates, or if several graders of one criterion are evenly split.
    """

    subject: str
    standing: Standing
    score: float | None = None
    passed: bool | None = None
    label: int | None = None
    """For holistic verdicts 1, 2 or 3; None if two votes disagree."""
    grade: GradePayload | None = None
    """The deciding grade; None if several evaluations decide."""
    cause: Cause | None = None
    reason: str = ""
    evaluations: tuple[str, ...] = ()
    """Ids of the evaluations behind the verdict, sorted by time."""


def strikes(amendments: Iterable[Amendment]) -> dict[tuple[AmendmentTarget, str], Amendment]:
    """Return the targets that are struck, with their amendments. The latest amendment of a target counts, by time and
    then by id.
    """
    state = {(a.target, a.target_id): a for a in sorted(amendments, key=lambda a: (a.at, a.id))}
    return {target: amendment for target, amendment in state.items() if amendment.action is AmendmentAction.STRIKE}


def struck(amendments: Iterable[Amendment]) -> frozenset[tuple[AmendmentTarget, str]]:
    """Return the targets that are struck."""
    return frozenset(strikes(amendments))


def targets_of(e: Evaluation) -> list[tuple[AmendmentTarget, str]]:
    """Return the targets whose striking also strikes an evaluation: the evaluation, its evaluator, round, instance and
    subject.
    """
    keys = [
        (AmendmentTarget.EVALUATION, e.id),
        (AmendmentTarget.EVALUATOR, e.evaluator),
        (AmendmentTarget.INSTANCE, e.instance),
    ]
    return [
        *keys,
        (AmendmentTarget.ROUND, e.round),
        *((AmendmentTarget.SUBMISSION, s) for s in (e.subject, e.second) if s is not None),
    ]
