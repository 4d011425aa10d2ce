"""Verdicts on submissions, and the set of records that amendments withdraw. `worksample.results` computes verdicts."""

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
    """The evaluations disagree, or more evaluations are needed."""
    UNGRADED = "ungraded"
    """The submission has no valid evaluation; `reason` says why. Such a submission never counts as a score of 0."""


class JudgedBy(StrEnum):
    """The kind of evaluator whose answers decide a verdict. Answers of a judge replace people's answers only if the
    operator chooses this.
    """

    COMBINED = "combined"
    """Each criterion is decided by the kind of evaluator in its field `by`. Work without such criteria is judged as a
    whole.
    """
    PEOPLE = "people"
    JUDGE = "judge"
    PROGRAM = "program"

    @property
    def kind(self) -> EvaluatorKind | None:
        """Return the kind of evaluator that answers all criteria. Return None if several kinds answer."""
        return _KINDS.get(self)


_KINDS = {
    JudgedBy.PEOPLE: EvaluatorKind.PERSON,
    JudgedBy.JUDGE: EvaluatorKind.JUDGE,
    JudgedBy.PROGRAM: EvaluatorKind.PROGRAM,
}
AWAITED = {EvaluatorKind.PERSON: Cause.PERSON_AWAITED, EvaluatorKind.JUDGE: Cause.JUDGE_AWAITED}
"""Cause of an ungraded verdict while an evaluation is awaited, by kind of evaluator. Waiting never counts as a
failure.
"""


class Verdict(Frozen):
    """The result of a submission. A verdict is computed from evaluations and never stored.

    `score` and `passed` are None unless the verdict is decided. `passed` is also None if a rubric has no criterion that
    decides about passing, or if the graders of a criterion are evenly split.
    """

    subject: str
    standing: Standing
    score: float | None = None
    passed: bool | None = None
    label: int | None = None
    """The vote of a holistic verdict: 1, 2 or 3. None if two votes disagree, or if the verdict is not holistic."""
    grade: GradePayload | None = None
    """The grade that decides the verdict. None if several evaluations decide together."""
    cause: Cause | None = None
    reason: str = ""
    evaluations: tuple[str, ...] = ()
    """Ids of the evaluations that the verdict was computed from, sorted by time."""


def strikes(amendments: Iterable[Amendment]) -> dict[tuple[AmendmentTarget, str], Amendment]:
    """Return the withdrawn (struck) targets, each with the amendment that withdrew it.

    If a target has several amendments, the latest one counts. Amendments of the same time are ordered by id.
    """
    state = {(a.target, a.target_id): a for a in sorted(amendments, key=lambda a: (a.at, a.id))}
    return {target: amendment for target, amendment in state.items() if amendment.action is AmendmentAction.STRIKE}


def struck(amendments: Iterable[Amendment]) -> frozenset[tuple[AmendmentTarget, str]]:
    """Return the targets that amendments have withdrawn and not restored."""
    return frozenset(strikes(amendments))


def targets_of(e: Evaluation) -> list[tuple[AmendmentTarget, str]]:
    """Return the targets that an evaluation depends on. If any of them is withdrawn (struck), the evaluation is
    withdrawn, too.

    The targets are the evaluation itself, its evaluator, round and instance, and its submissions.
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
