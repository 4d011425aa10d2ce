"""The records of judging: rounds, evaluators, evaluations, and amendments that withdraw or restore evidence."""

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
    """The answer to the question whether a reasonable client would accept the submission as commissioned work (RLI
    3.4).

    1 means no, 2 means yes, 3 means better than the reference.
    """

    type: Literal["holistic"] = "holistic"
    score: Literal[1, 2, 3]
    justification: str = ""
    inspected: bool = True
    """True if the evaluator was able to inspect the deliverable well enough."""


class PairwiseChoice(StrEnum):
    FIRST = "first"
    EQUAL = "equal"
    SECOND = "second"


class Pairwise(Frozen):
    """A comparison of two submissions (RLI 3.4): which one is closer to completing the work, and which one is better
    overall.
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
    """Answers by question. For a job, the answers say whether the job qualifies and why, and contain the expert's
    rubric (UpBench 3.3).
    """

    type: Literal["labels"] = "labels"
    labels: dict[str, str]
    note: str = ""
    reasons: dict[str, str] = omittable({})
    """Reasons for the answers, by question. Omitted if empty."""
    criteria: Criteria = omittable(Criteria())
    """The rubric that an expert wrote for a job. Omitted if empty."""


Payload = Annotated[Holistic | Pairwise | GradePayload | Tags | Labels, Field(discriminator="type")]


class ResolutionRule(StrEnum):
    """Rule that combines the evaluations of one submission in a round into a verdict."""

    LATEST = "latest"
    """The latest valid evaluation decides. Used for programs and for single raters."""
    MAJORITY = "majority"
    """The majority of all evaluations decides (RLI 3.4 uses three votes)."""
    TIE_BREAK = "tie_break"
    """Two evaluators vote. If they disagree, a third one decides (RLI B.2)."""
    MEAN = "mean"
    """The mean score decides. Used for judges that are asked several times."""
    VERIFIED = "verified"
    """One person votes. If the vote is yes, a second person verifies it. If the two disagree, a third person decides
    (UpBench 3.3).
    """


class Purpose(StrEnum):
    """Purpose of a round. Only rounds with the purpose `grading` or `regrade` may decide the verdicts of
    submissions.
    """

    GRADING = "grading"
    REGRADE = "regrade"
    """Grades the submissions of an earlier round again. The new round decides verdicts after a person has adopted
    it.
    """
    AUDIT = "audit"
    """Judges again the work that passed in another round (RLI B.5)."""
    ADJUDICATION = "adjudication"
    """Decides about submissions on which the evaluators of another round disagree."""
    FALSE_NEGATIVES = "false_negatives"
    """Judges a sample of work that failed in another round (RLI B.5)."""
    RELIABILITY = "reliability"
    """Judges a sample of another round's submissions again, to measure how far evaluators agree."""
    INTEGRITY = "integrity"
    """Checks whether the work is honest."""
    FAILURES = "failures"
    """Assigns tags for the faults of the work (RLI 4.2)."""
    PILOT = "pilot"
    """Checks whether all evaluators understand the instructions in the same way, before real work is judged."""
    CALIBRATION = "calibration"
    """Checks evaluators with gold items, whose right answers are known."""
    QUALIFICATION = "qualification"
    """Decides whether jobs are suitable as tasks (UpBench 3.3). The subjects of this round are jobs, not
    submissions.
    """
    LATER_PAIRS = "later_pairs"
    """Adds pairs to a judge's round, because more submissions arrived after the round was opened. The answers count in
    that earlier round.
    """


class EvaluatorKind(StrEnum):
    PERSON = "person"
    JUDGE = "judge"
    PROGRAM = "program"


_BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


@register
class Round(Record):
    """The grading of a set of submissions under one protocol, with fixed versions of graders, judges and prompts."""

    kind: ClassVar[str] = "round"
    schema_version: ClassVar[int] = 5

    protocol: Protocol
    by: EvaluatorKind = EvaluatorKind.PERSON
    """Kind of evaluator that this round asks. The evaluators answer the criteria that name this kind. By default,
    programs answer for the protocols `program` and `checkpoints`, and people for all other protocols.
    """
    purpose: Purpose = Purpose.GRADING
    over: str | None = None
    """Id of the earlier round that this round checks, regrades or extends; None if there is no such round."""
    experiment: str | None = None
    """Id of the experiment whose submissions are all subjects of this round, as soon as they arrive. None if `subjects`
    lists the subjects.
    """
    subjects: tuple[str, ...] = ()
    """Ids of the submissions to grade, or of the instances if the round qualifies jobs."""
    overlap: int = Field(default=1, ge=1)
    """Number of evaluations that each subject needs."""
    rule: ResolutionRule = ResolutionRule.LATEST
    gradings: dict[str, str] = {}
    """Digest of the grading used in this round, by instance id."""
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
        """Convert the body of a round from an older schema version.

        Schema 4 had no purpose `later_pairs`. Schema 3 had no jobs as subjects. Schema 2 did not record the kind of
        evaluator. Schema 1 stored the purpose among the versions. It had no regrades: every round decided verdicts as
        soon as it was opened.
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
    """The answer of one evaluator about one submission or one pair. A failed evaluation has a cause and no payload; the
    submission then stays ungraded.
    """

    kind: ClassVar[str] = "evaluation"
    schema_version: ClassVar[int] = 2
    """Current schema version of evaluations. Schema 1 had no answers about jobs."""

    round: str
    subject: str
    """Id of the evaluated submission, or of the instance if a job is evaluated."""
    second: str | None = None
    """Id of the submission that was shown second, if a pair was compared. `subject` is the submission that was shown
    first.
    """
    reference: str | None = None
    """Id of the submission that the evaluator saw as reference; None if no reference was shown."""
    instance: str
    grading: str = ""
    """Digest of the grading (criteria, grader and settings) that this evaluation used."""
    evaluator: str
    outcome: EvaluationOutcome
    payload: Payload | None = None
    cause: Cause | None = None
    reason: str = Field(default="", max_length=20_000)
    minutes: float | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0)
    """Cost of this evaluation in US dollars; None if unknown."""
    record: dict[str, Any] = {}
    """Digests of further evidence, by name, such as the grader's output and the judge's prompts and answers."""
    author: str
    at: Moment

    @property
    def of_job(self) -> bool:
        """Return whether a job was evaluated, and not a submission."""
        return self.subject == self.instance

    @property
    def draw(self) -> int:
        """Return the number of this answer among the answers of the same evaluator, from 1. Judges may be asked several
        times, people only once.
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
    """Put a round in force: its evaluations decide verdicts from now on. Applies to rounds only."""


class AmendmentTarget(StrEnum):
    EVALUATION = "evaluation"
    EVALUATOR = "evaluator"
    TRIAL = "trial"
    SUBMISSION = "submission"
    INSTANCE = "instance"
    ROUND = "round"


@register
class Amendment(Record):
    """A person's decision, with a reason, to withdraw (strike) a record, to restore it, or to adopt a round. The record
    itself does not change.
    """

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
