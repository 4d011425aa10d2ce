"""Rounds and their figures."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from worksample.app.server.figures import AnyFigure, BackgroundOf, NoFigure
from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.people import Form, Progress, Role, RoundKind
from worksample.people.rounds.job_questions import LARGEST, Question
from worksample.records import Protocol, ResolutionRule

Id = Annotated[str, Field(min_length=1, max_length=200)]


class GoldBody(RequestBody):
    """An item whose right answer is known: `expected` maps questions to answers."""

    subject: Id
    expected: dict[str, JsonValue]
    explanation: str = Field(default="", max_length=20_000)
    second: Id | None = None


class NewRound(RequestBody):
    """What a round is asked to be; `worksample.people.PeopleRound` says what each setting does."""

    kind: RoundKind
    experiment: Id | None = None
    subjects: Annotated[tuple[Id, ...], Field(max_length=100_000)] = ()
    over: Id | None = None
    form: Form | None = None
    protocol: Literal[Protocol.RUBRIC, Protocol.PROGRAM, Protocol.CHECKPOINTS] | None = None
    """Whose criteria the rubric's form asks; null: the rubric's."""
    rule: ResolutionRule | None = None
    overlap: int | None = Field(default=None, ge=1, le=100)
    per_pair: int = Field(default=10, ge=1, le=100_000)
    sample: int = Field(default=50, ge=1, le=100_000)
    positives: float = Field(default=0.5, ge=0, le=1)
    gold: Annotated[tuple[GoldBody, ...], Field(max_length=10_000)] = ()
    roles: tuple[Role, ...] | None = None
    reference: bool | None = None
    domains: bool = False
    training: bool = True
    quiz: Id | None = None
    holistic: Id | None = None
    lease_minutes: float = Field(default=15, gt=0, le=10_000)
    most_open: int = Field(default=3, ge=1, le=100)
    seed: int | None = Field(default=None, ge=0, lt=1 << 53)
    questions: Annotated[tuple[Question, ...], Field(max_length=LARGEST)] = ()
    """Of a qualification, whose subjects are jobs: what is asked beside the core."""
    look: bool = True
    """Of a qualification: a program looks at each job first, which takes a second or so for each."""
    waive_pilot: str = Field(default="", max_length=5000)
    reason: str = Field(default="", max_length=5000)


class JobRow(ResponseBody):
    """A job that the store knows. `asked`: in how many qualifications it stands."""

    instance: str
    title: str
    contract: str
    category: str
    marks: tuple[str, ...]
    """Such as `hourly`: what UpBench's preset leaves out."""
    files: int
    asked: int


class ProgressView(ResponseBody, Progress):
    """Gold items are not counted. `open`: evaluations that are still wanted and that nobody has taken."""

    model_config = ConfigDict(extra="ignore")


class RoundRow(ResponseBody):
    """A round by people. `state` is `imported` where its judgments came in from elsewhere: it has no queue."""

    id: str
    kind: str
    form: Form
    state: Literal["open", "paused", "closed", "imported"]
    protocol: Protocol
    experiment: str | None
    experiment_name: str
    over: str | None
    """The round that it looks at."""
    rule: ResolutionRule
    overlap: int
    roles: tuple[Role, ...]
    subjects: int
    instructions: str
    """Digest."""
    waived_pilot: str
    reason: str
    author: str
    """An account's name, or `owner`."""
    at: Micros
    progress: ProgressView | NoFigure


class RoundDetail(RoundRow):
    """`settings`: what the queue goes by. `looked_at_by`: rounds over this one. `names_seen`: this account has seen who
    made what, and is given none of its items."""

    settings: dict[str, JsonValue]
    versions: dict[str, str]
    seed: int
    looked_at_by: tuple[str, ...]
    names_seen: bool


class SetState(RequestBody):
    state: Literal["open", "paused", "closed"]


class Added(ResponseBody):
    """How many items came in."""

    added: int


class StruckView(ResponseBody):
    """The amendments that were made."""

    amendments: tuple[str, ...]
    submissions: tuple[str, ...]


class AgreementView(ResponseBody):
    """Where few pass, a high share is cheap: read alpha, AC1 and the agreement on positives beside it."""

    share: AnyFigure
    hard: AnyFigure
    positive: AnyFigure
    alpha_nominal: AnyFigure
    alpha_ordinal: AnyFigure
    alpha_interval: AnyFigure
    ac1: AnyFigure


class LeniencyView(ResponseBody):
    """How often a person lets pass, beside how often others let the same items pass."""

    person: str
    name: str
    background: BackgroundOf
    own: AnyFigure
    others: AnyFigure


class BackgroundView(ResponseBody):
    """The same for those of one background. `group`: a domain, below or from the median on, or unknown."""

    trait: Literal["domains", "hours", "earnings", "rating", "pay_rate"]
    group: str
    people: int
    own: AnyFigure
    others: AnyFigure


class PositionBiasView(ResponseBody):
    """Of votes with a preference, the share for what stood first; `person` null: all together. 50 % is no bias."""

    person: str | None
    name: str
    completion: AnyFigure
    quality: AnyFigure


class ThroughputView(ResponseBody):
    """`minutes`: the median of active ones; `over`: evaluations above the soft limit."""

    person: str
    name: str
    given: int
    declined: int
    minutes: float | None
    over: int
    first: Micros
    last: Micros


class GoldAnswer(ResponseBody):
    at: Micros
    right: bool


class GoldView(ResponseBody):
    """`passed`: of a calibration; null until every item is answered."""

    person: str
    name: str
    share: AnyFigure
    passed: bool | None
    over_time: tuple[GoldAnswer, ...]


class Dashboard(ResponseBody):
    """Each part is there, or says why not. `false_negatives` is null where no sample of fails was drawn."""

    progress: ProgressView | NoFigure
    agreement: AgreementView | NoFigure
    leniency: tuple[LeniencyView, ...] | NoFigure
    backgrounds: tuple[BackgroundView, ...] | NoFigure
    position_bias: tuple[PositionBiasView, ...] | NoFigure
    throughput: tuple[ThroughputView, ...] | NoFigure
    gold: tuple[GoldView, ...] | NoFigure
    false_negatives: AnyFigure | None
