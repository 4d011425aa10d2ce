"""JSON models of rounds by people and of their dashboard."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from worksample.app.server.json_figures import AnyFigure, EvaluatorBackground, NoFigure
from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.people import Form, Progress, Role, RoundKind
from worksample.people.rounds.job_questions import LARGEST, Question
from worksample.records import Protocol, ResolutionRule

Id = Annotated[str, Field(min_length=1, max_length=200)]


class GoldBody(RequestBody):
    """An item with a known right answer: `expected` maps questions to answers."""

    subject: Id
    expected: dict[str, JsonValue]
    explanation: str = Field(default="", max_length=20_000)
    second: Id | None = None


class NewRound(RequestBody):
    """Settings of a new round; `worksample.people.PeopleRound` explains each."""

    kind: RoundKind
    experiment: Id | None = None
    subjects: Annotated[tuple[Id, ...], Field(max_length=100_000)] = ()
    over: Id | None = None
    form: Form | None = None
    protocol: Literal[Protocol.RUBRIC, Protocol.PROGRAM, Protocol.CHECKPOINTS] | None = None
    """The protocol whose criteria the rubric's form asks about; null for the rubric's."""
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
    """For a qualification, whose subjects are jobs: questions in addition to the core ones."""
    look: bool = True
    """For a qualification: a program screens each job first, which takes about a second per job."""
    waive_pilot: str = Field(default="", max_length=5000)
    reason: str = Field(default="", max_length=5000)


class JobRow(ResponseBody):
    """A job in the store. `asked`: the number of qualifications that include it."""

    instance: str
    title: str
    contract: str
    category: str
    marks: tuple[str, ...]
    """Marks such as `hourly`, for jobs that UpBench's preset leaves out."""
    files: int
    asked: int


class ProgressView(ResponseBody, Progress):
    """Progress of a round without its gold items. `open`: evaluations that are wanted and not yet claimed."""

    model_config = ConfigDict(extra="ignore")


class RoundRow(ResponseBody):
    """A round by people. `state` is `imported` for a round of imported judgments, which has no queue."""

    id: str
    kind: str
    form: Form
    state: Literal["open", "paused", "closed", "imported"]
    protocol: Protocol
    experiment: str | None
    experiment_name: str
    over: str | None
    """The round whose work this round reviews."""
    rule: ResolutionRule
    overlap: int
    roles: tuple[Role, ...]
    subjects: int
    instructions: str
    """Digest of the instructions."""
    waived_pilot: str
    reason: str
    author: str
    """An account's name, or `owner`."""
    at: Micros
    progress: ProgressView | NoFigure


class RoundDetail(RoundRow):
    """`settings`: the queue's settings. `looked_at_by`: rounds that review this one. `names_seen`: this account has
    seen the makers' names and gets none of the round's items.
    """

    settings: dict[str, JsonValue]
    versions: dict[str, str]
    seed: int
    looked_at_by: tuple[str, ...]
    names_seen: bool


class SetState(RequestBody):
    state: Literal["open", "paused", "closed"]


class Added(ResponseBody):
    """The number of items added."""

    added: int


class StruckView(ResponseBody):
    """The amendments made, and the submissions that they strike."""

    amendments: tuple[str, ...]
    submissions: tuple[str, ...]


class AgreementView(ResponseBody):
    """Agreement of a round. If few submissions pass, a high share means little: read alpha, AC1 and agreement on
    positives.
    """

    share: AnyFigure
    hard: AnyFigure
    positive: AnyFigure
    alpha_nominal: AnyFigure
    alpha_ordinal: AnyFigure
    alpha_interval: AnyFigure
    ac1: AnyFigure


class LeniencyView(ResponseBody):
    """A person's pass rate, beside the pass rate of others on the same items."""

    person: str
    name: str
    background: EvaluatorBackground
    own: AnyFigure
    others: AnyFigure


class BackgroundView(ResponseBody):
    """The pass rate of people with one background. `group`: a domain, below or from the median on, or unknown."""

    trait: Literal["domains", "hours", "earnings", "rating", "pay_rate"]
    group: str
    people: int
    own: AnyFigure
    others: AnyFigure


class PositionBiasView(ResponseBody):
    """The share of votes for the side shown first, among votes with a preference. `person` is null for all together; 50
    % means no bias.
    """

    person: str | None
    name: str
    completion: AnyFigure
    quality: AnyFigure


class ThroughputView(ResponseBody):
    """Work done by a person. `minutes`: median of active minutes; `over`: evaluations above the soft limit."""

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
    """A person's answers to gold items. `passed`: for a calibration; null until every item is answered."""

    person: str
    name: str
    share: AnyFigure
    passed: bool | None
    over_time: tuple[GoldAnswer, ...]


class Dashboard(ResponseBody):
    """Figures of a round, or the reason why a part has none. `false_negatives` is null if no sample of fails was
    drawn.
    """

    progress: ProgressView | NoFigure
    agreement: AgreementView | NoFigure
    leniency: tuple[LeniencyView, ...] | NoFigure
    backgrounds: tuple[BackgroundView, ...] | NoFigure
    position_bias: tuple[PositionBiasView, ...] | NoFigure
    throughput: tuple[ThroughputView, ...] | NoFigure
    gold: tuple[GoldView, ...] | NoFigure
    false_negatives: AnyFigure | None
