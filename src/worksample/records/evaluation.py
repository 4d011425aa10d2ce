"""Judging: rounds, evaluators, evaluations, and the amendments that strike or restore them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from worksample.errors import Cause

from .base import Frozen, Moment, Record, omittable, register
from .criteria import Criteria
from .grade import GradePayload
from .task import Protocol


class Holistic(Frozen):
    """An answer to: would a reasonable client accept this as commissioned work? 1 no, 2 yes, 3 better than the
    reference (RLI 3.4).
    """

    type: Literal["holistic"] = "holistic"
    score: Literal[1, 2, 3]
    justification: str = ""
    inspected: bool = True
    """True if the evaluator could inspect the deliverable adequately."""


class PairwiseChoice(StrEnum):
    FIRST = "first"
    EQUAL = "equal"
    SECOND = "second"


class Pairwise(Frozen):
    """A comparison of two submissions: which is closer to completing the work, and which is better
    overall (RLI 3.4).
    """

    type: Literal["pairwise"] = "pairwise"
    completion: PairwiseChoice
    quality: PairwiseChoice
    justification: str = ""


class Tags(Frozen):
    type: Literal["tags"] = "tags"
    tags: tuple[str, ...]
    note: str = ""


class Labels(Frozen):
    """Answers by question. For a job: whether it qualifies, the reasons, and the expert's rubric (UpBench 3.3)."""

    type: Literal["labels"] = "labels"
    labels: dict[str, str]
    note: str = ""
    reasons: dict[str, str] = omittable({})
    """Reasons by question. Omitted if empty."""
    criteria: Criteria = omittable(Criteria())
    """Omitted if empty."""


Payload = Annotated[Holistic | Pairwise | GradePayload | Tags | Labels, Field(discriminator="type")]


class ResolutionRule(StrEnum):
    """Rule by which the evaluations of one subject in a round become a verdict."""

    LATEST = "latest"
    """The latest evaluation that is not struck: for programs and single raters."""
    MAJORITY = "majority"
    """The majority of all evaluations (RLI 3.4: three votes)."""
    TIE_BREAK = "tie_break"
    """Two votes, and a third if they disagree (RLI B.2)."""
    MEAN = "mean"
    """The mean score: for judges with repeats."""
    VERIFIED = "verified"
    """One vote; a second person verifies a yes, and a third decides if those two differ (UpBench 3.3)."""


class Purpose(StrEnum):
    """Purpose of a round. Only the first two may decide the verdicts of submissions."""

    GRADING = "grading"
    REGRADE = "regrade"
    """Grades the work of an earlier round again; it decides once the round is adopted."""
    AUDIT = "audit"
    """Judges work again that passed in another round (RLI B.5)."""
    ADJUDICATION = "adjudication"
    """Decides about work on which another round's votes disagree."""
    FALSE_NEGATIVES = "false_negatives"
    """Judges a sample of work that failed in another round (RLI B.5)."""
    RELIABILITY = "reliability"
    """Judges a sample of another round a second time."""
    INTEGRITY = "integrity"
    """Checks whether the work is honest."""
    FAILURES = "failures"
    """Tags the faults of the work (RLI 4.2)."""
    PILOT = "pilot"
    """Checks whether all evaluators understand the instructions in the same way."""
    CALIBRATION = "calibration"
    """Judges gold items, whose right answers are known."""
    QUALIFICATION = "qualification"
    """Decides whether jobs are fit to be tasks (UpBench 3.3). Its subjects are jobs, not work."""
    LATER_PAIRS = "later_pairs"
    """Adds pairs to a judge's round, drawn after more work arrived. The answers count in that round."""


class EvaluatorKind(StrEnum):
    PERSON = "person"
    JUDGE = "judge"
    PROGRAM = "program"


_BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


@register
class Round(Record):
    """The grading of a set of submissions under one protocol with fixed versions."""

    kind: ClassVar[str] = "round"
    schema_version: ClassVar[int] = 5

    protocol: Protocol
    by: EvaluatorKind = EvaluatorKind.PERSON
    """Kind of evaluator that is asked, about the criteria that name this kind. Default: programs for protocols of
    programs, people for the others.
    """
    purpose: Purpose = Purpose.GRADING
    over: str | None = None
    """Id of the round that this one checks or regrades."""
    experiment: str | None = None
    """If set, all submissions of this experiment are subjects as soon as they arrive; otherwise `subjects` lists them.
    """
    subjects: tuple[str, ...] = ()
    """Ids of submissions, or of instances if jobs qualify."""
    overlap: int = Field(default=1, ge=1)
    """Number of evaluations wanted per subject."""
    rule: ResolutionRule = ResolutionRule.LATEST
    gradings: dict[str, str] = {}
    """Instance id -> digest of the grading used in this round."""
    versions: dict[str, str] = {}
    seed: int = 0
    reason: str = ""
    author: str
    at: Moment

    @model_validator(mode="before")
    @classmethod
    def _asked_kind(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "by" in body or body.get("protocol") not in set(Protocol):
            return body
        programs = body["protocol"] in _BY_PROGRAMS
        return {**body, "by": EvaluatorKind.PROGRAM if programs else EvaluatorKind.PERSON}

    @classmethod
    def upgrade(cls, body: dict[str, Any], schema: int) -> dict[str, Any]:
        """Convert older schemas.

        Schema 4 had no pairs that are drawn later, and schema 3 no jobs as subjects. Schema 2 did not record which kind
        of evaluator is asked. Schema 1 kept its purpose among the versions and had no regrades: rounds counted as soon
        as they opened.
        """
        if schema >= 2:
            return body
        versions = dict(body.get("versions", {}))
        kind, over = versions.pop("people.kind", ""), versions.pop("people.over", None)
        purpose = "failures" if kind == "tags" else kind if kind in set(Purpose) else Purpose.GRADING.value
        return {**body, "versions": versions, "purpose": purpose, "over": over}


@register
class Evaluator(Record):
    kind: ClassVar[str] = "evaluator"

    name: str
    type: EvaluatorKind
    version: str = ""
    domains: tuple[str, ...] = ()
    standing: str = ""
    at: Moment


class EvaluationOutcome(StrEnum):
    GIVEN = "given"
    DECLINED = "declined"
    FAILED = "failed"


@register
class Evaluation(Record):
    """One evaluator's answer. A failed evaluation has a cause and no payload, and the subject stays ungraded."""

    kind: ClassVar[str] = "evaluation"
    schema_version: ClassVar[int] = 2
    """Schema 1 had no answers on jobs."""

    round: str
    subject: str
    """Id of the submission, or of the instance if a job is evaluated."""
    second: str | None = None
    """The other submission of a pair; `subject` is the one that was shown first."""
    reference: str | None = None
    """Id of the submission that was shown as reference."""
    instance: str
    grading: str = ""
    """Digest of the grading used."""
    evaluator: str
    outcome: EvaluationOutcome
    payload: Payload | None = None
    cause: Cause | None = None
    reason: str = Field(default="", max_length=20_000)
    minutes: float | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0)
    """Cost in US dollars."""
    record: dict[str, Any] = {}
    """Digests of further evidence, such as the grader's output and the judge's prompts and answers."""
    author: str
    at: Moment

    @property
    def of_job(self) -> bool:
        """Return whether the subject is a job, and not work."""
        return self.subject == self.instance

    @property
    def draw(self) -> int:
        """Return the number of this answer among the evaluator's answers, from 1. Judges may be asked several times,
        people only once.
        """
        n = self.record.get("n", 1)
        return n if isinstance(n, int) and 0 < n < 2**31 else 1

    @model_validator(mode="after")
    def _given_has_payload(self) -> Self:
        if (self.outcome is EvaluationOutcome.GIVEN) != (self.payload is not None):
            raise ValueError("a given evaluation needs a payload, and a failed or declined one must have none")
        if self.outcome is EvaluationOutcome.FAILED and self.cause is None:
            raise ValueError("a failed evaluation needs a cause")
        return self


class AmendmentAction(StrEnum):
    STRIKE = "strike"
    RESTORE = "restore"
    ADOPT = "adopt"
    """Make a round decide verdicts from now on. For rounds only."""


class AmendmentTarget(StrEnum):
    EVALUATION = "evaluation"
    EVALUATOR = "evaluator"
    TRIAL = "trial"
    SUBMISSION = "submission"
    INSTANCE = "instance"
    ROUND = "round"


@register
class Amendment(Record):
    """A decision that strikes or restores a record, or adopts a round. The record itself does not change."""

    kind: ClassVar[str] = "amendment"

    action: AmendmentAction
    target: AmendmentTarget
    target_id: str
    reason: str = Field(min_length=1)
    author: str
    at: Moment

    @model_validator(mode="after")
    def _only_rounds_are_adopted(self) -> Self:
        if self.action is AmendmentAction.ADOPT and self.target is not AmendmentTarget.ROUND:
            raise ValueError(f"only a round can be adopted, not a {self.target}")
        return self
