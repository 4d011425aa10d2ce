"""Judging: rounds, evaluators, what each said, and what strikes it."""

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
    """Would a reasonable client accept it as commissioned work? 1 no, 2 yes, 3 better than the reference (RLI 3.4)."""

    type: Literal["holistic"] = "holistic"
    score: Literal[1, 2, 3]
    justification: str = ""
    inspected: bool = True
    """Whether the deliverable could be inspected adequately."""


class PairwiseChoice(StrEnum):
    FIRST = "first"
    EQUAL = "equal"
    SECOND = "second"


class Pairwise(Frozen):
    """Which of two is closer to completing the work, and which is better overall (RLI 3.4)."""

    type: Literal["pairwise"] = "pairwise"
    completion: PairwiseChoice
    quality: PairwiseChoice
    justification: str = ""


class Tags(Frozen):
    type: Literal["tags"] = "tags"
    tags: tuple[str, ...]
    note: str = ""


class Labels(Frozen):
    """Answers by question. Of a job: whether it qualifies, why, and the rubric that the expert wrote (UpBench 3.3)."""

    type: Literal["labels"] = "labels"
    labels: dict[str, str]
    note: str = ""
    reasons: dict[str, str] = omittable({})
    """By question. Not written where there are none."""
    criteria: Criteria = omittable(Criteria())
    """Not written where there are none."""


Payload = Annotated[Holistic | Pairwise | GradePayload | Tags | Labels, Field(discriminator="type")]


class ResolutionRule(StrEnum):
    """How a round's evaluations of one subject become a verdict."""

    LATEST = "latest"
    """The latest standing evaluation: programs, single raters."""
    MAJORITY = "majority"
    """The majority of all (RLI 3.4: three votes)."""
    TIE_BREAK = "tie_break"
    """Two votes, a third where they disagree (RLI B.2)."""
    MEAN = "mean"
    """The mean score: judges with repeats."""
    VERIFIED = "verified"
    """One vote; a second person verifies a yes, a third decides where those two differ (UpBench 3.3)."""


class Purpose(StrEnum):
    """What a round is for. Only the first two may decide what submissions come to."""

    GRADING = "grading"
    REGRADE = "regrade"
    """The work of an earlier round, graded anew: decides from the moment that it is adopted."""
    AUDIT = "audit"
    """What passed in another round, once more (RLI B.5)."""
    ADJUDICATION = "adjudication"
    """What the votes of another round contest."""
    FALSE_NEGATIVES = "false_negatives"
    """A sample of what failed in another round (RLI B.5)."""
    RELIABILITY = "reliability"
    """A double-rated sample of another round."""
    INTEGRITY = "integrity"
    """Whether it is honest work."""
    FAILURES = "failures"
    """What is wrong with it, in tags (RLI 4.2)."""
    PILOT = "pilot"
    """Whether instructions are understood alike."""
    CALIBRATION = "calibration"
    """Gold items, whose right answers are known."""
    QUALIFICATION = "qualification"
    """Whether jobs are fit to be tasks (UpBench 3.3): its subjects are jobs, and nothing is judged that was made."""
    LATER_PAIRS = "later_pairs"
    """More pairs of the judge's round that it is over, drawn once work came later; what is said of them is said in that
    round.
    """


class EvaluatorKind(StrEnum):
    PERSON = "person"
    JUDGE = "judge"
    PROGRAM = "program"


_BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


@register
class Round(Record):
    """One grading of a set of submissions under one protocol with fixed versions."""

    kind: ClassVar[str] = "round"
    schema_version: ClassVar[int] = 5

    protocol: Protocol
    by: EvaluatorKind = EvaluatorKind.PERSON
    """The kind of evaluator that is asked: of criteria, those that are its own. Where it is not given, programs under
    the protocols that are theirs, people under the others.
    """
    purpose: Purpose = Purpose.GRADING
    over: str | None = None
    """The round that this one looks at again, or grades anew."""
    experiment: str | None = None
    """All submissions of this experiment are subjects, as they come; else `subjects` lists them."""
    subjects: tuple[str, ...] = ()
    """Ids of submissions; of instances where jobs qualify."""
    overlap: int = Field(default=1, ge=1)
    """Evaluations wanted per subject."""
    rule: ResolutionRule = ResolutionRule.LATEST
    gradings: dict[str, str] = {}
    """Instance id -> grading digest that is in force in this round."""
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
    def upgraded(cls, body: dict[str, Any], schema: int) -> dict[str, Any]:
        """Schema 4 knew no pairs that are drawn later. Schema 3 knew no jobs as subjects.

        Schema 2 did not say who is asked.

        Schema 1 told its purpose among the versions, and knew no regrades: they counted as soon as opened.
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
    """What one evaluator said. A failed one carries its cause and no payload: the subject stays ungraded."""

    kind: ClassVar[str] = "evaluation"
    schema_version: ClassVar[int] = 2
    """Schema 1 knew no answers on jobs."""

    round: str
    subject: str
    """Submission id; where a job is asked about, the instance's."""
    second: str | None = None
    """The other submission of a pair; `subject` is the one shown first."""
    reference: str | None = None
    """The submission shown as reference."""
    instance: str
    grading: str = ""
    """Grading digest that was in force."""
    evaluator: str
    outcome: EvaluationOutcome
    payload: Payload | None = None
    cause: Cause | None = None
    reason: str = Field(default="", max_length=20_000)
    minutes: float | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0)
    """US dollars."""
    record: dict[str, Any] = {}
    """Digests of what the grader printed, the judge's prompts and answers, and the like."""
    author: str
    at: Moment

    @property
    def of_job(self) -> bool:
        """Whether it is about a job, and not about work on it."""
        return self.subject == self.instance

    @property
    def draw(self) -> int:
        """Which of an evaluator's own answers it is, from 1: a judge may be asked several times, people are not."""
        n = self.record.get("n", 1)
        return n if isinstance(n, int) and 0 < n < 2**31 else 1

    @model_validator(mode="after")
    def _given_has_payload(self) -> Self:
        if (self.outcome is EvaluationOutcome.GIVEN) != (self.payload is not None):
            raise ValueError("a given evaluation has a payload, any other has none")
        if self.outcome is EvaluationOutcome.FAILED and self.cause is None:
            raise ValueError("a failed evaluation has a cause")
        return self


class AmendmentAction(StrEnum):
    STRIKE = "strike"
    RESTORE = "restore"
    ADOPT = "adopt"
    """Put a round in force: from now on it decides. Rounds only."""


class AmendmentTarget(StrEnum):
    EVALUATION = "evaluation"
    EVALUATOR = "evaluator"
    TRIAL = "trial"
    SUBMISSION = "submission"
    INSTANCE = "instance"
    ROUND = "round"


@register
class Amendment(Record):
    """Strikes or restores a record, or puts a round in force; the record itself stays as it was."""

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
            raise ValueError(f"a round can be adopted, no {self.target}")
        return self
