"""What was said, what it comes to, and what strikes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from worksample.app.judging.schemas import PaneView
from worksample.app.judging.vote_schemas import VoteContent
from worksample.app.rounds.schemas import Id
from worksample.app.server.figures import AnyFigure, EvaluatorBackground
from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.people import DecidedBy
from worksample.records import AmendmentAction, AmendmentTarget, EvaluatorKind, Protocol, Purpose, Standing


class VerdictView(ResponseBody):
    """`agent`: who made it, or its number where names are not shown. `votes_passed`: by the round's own votes alone."""

    submission: str
    agent: str
    instance: str
    standing: Standing
    score: float | None
    passed: bool | None
    label: int | None
    reason: str
    by: DecidedBy
    votes_standing: Standing
    votes_passed: bool | None
    integrity: tuple[str, ...]
    evaluations: tuple[str, ...]


class Verdicts(ResponseBody):
    """`names`: whether agents have their names here. `barred`: what that costs; "" for nothing."""

    round: str
    names: bool
    barred: str
    verdicts: tuple[VerdictView, ...]


class Strike(ResponseBody):
    """What struck a vote. `target`: the vote itself, its evaluator, a submission or the instance."""

    target: AmendmentTarget
    reason: str
    author: str
    at: Micros


class Voter(ResponseBody):
    """`id`: of the version of their Evaluator record, which an amendment may name. `account` null: imported."""

    id: str
    account: str | None
    name: str
    background: EvaluatorBackground


class VoteView(ResponseBody):
    """`said`: the payload; null where it was declined or failed. `minutes` are active ones."""

    evaluation: str
    submission: str
    second: str | None
    agent: str
    second_agent: str | None
    instance: str
    voter: Voter
    outcome: Literal["given", "declined", "failed"]
    said: VoteContent | None
    critical_flaw: str
    recognised: str
    reason: str
    minutes: float | None
    at: Micros
    stands: bool
    struck: Strike | None


class Votes(ResponseBody):
    round: str
    names: bool
    barred: str
    votes: tuple[VoteView, ...]


class RoundVotes(ResponseBody):
    """What was said of one submission in a round. `by`: whom the round asks; `purpose`: what it is for."""

    round: str
    protocol: Protocol
    purpose: Purpose
    by: EvaluatorKind
    votes: tuple[VoteView, ...]


class Outcome(ResponseBody):
    """What it comes to under a protocol."""

    protocol: Protocol
    standing: Standing
    score: float | None
    passed: bool | None
    reason: str


class CallView(ResponseBody):
    name: str
    arguments: str
    result: str


class StepView(ResponseBody):
    source: str
    text: str
    calls: tuple[CallView, ...]


class SubmissionView(ResponseBody):
    """One piece of work with all that was said of it. `agent`, `origin` and `steps` say who made it: without `names`
    they are empty. `criteria`: their words by id. `barred`: what looking cost; "" for nothing."""

    id: str
    names: bool
    barred: str
    experiment: str | None
    instance: str
    title: str
    agent: str
    origin: str
    at: Micros
    brief_html: str
    shown: tuple[PaneView, ...]
    criteria: dict[str, str]
    outcomes: tuple[Outcome, ...]
    rounds: tuple[RoundVotes, ...]
    steps: tuple[StepView, ...]
    steps_note: str


class PreferenceView(ResponseBody):
    """One project and pair of agents. `preference`: 1 for the first, 0 for the second, 0.5 for neither."""

    project: str
    first: str
    second: str
    votes: int
    preference: float | None
    reason: str


class Preferences(ResponseBody):
    round: str
    names: bool
    barred: str
    preferences: tuple[PreferenceView, ...]


class LeakView(ResponseBody):
    """A file without a blind copy. `path`: quoted, with names of agents blotted out."""

    submission: str
    agent: str
    instance: str
    path: str
    leaks: tuple[str, ...]


class Leaks(ResponseBody):
    """`looked`: files whose views are made; `waiting`: the others. `files`: the first 2,000 of `leaking`."""

    round: str
    looked: int
    waiting: int
    leaking: int
    files: tuple[LeakView, ...]


class NewAmendment(RequestBody):
    action: AmendmentAction
    target: AmendmentTarget
    target_id: Id
    reason: str = Field(min_length=1, max_length=5000)


class AmendmentView(ResponseBody):
    id: str
    action: AmendmentAction
    target: AmendmentTarget
    target_id: str
    reason: str
    author: str
    at: Micros


class ExperimentView(ResponseBody):
    """`submissions`: live ones, which a round would take."""

    id: str
    name: str
    suite: str
    agents: int
    instances: int
    repeats: int
    submissions: int
    at: Micros


class PilotView(ResponseBody):
    round: str
    share: AnyFigure
    items: int
    passed: bool


class Pilots(ResponseBody):
    """Of the version of instructions in force. `needed`: agreement, on at least `fewest` items."""

    instructions: str
    passed: bool
    needed: float
    fewest: int
    pilots: tuple[PilotView, ...]
