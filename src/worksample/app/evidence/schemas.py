"""JSON models of verdicts, votes, submissions, amendments, experiments and pilots."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from worksample.app.judging.schemas import PaneView
from worksample.app.judging.vote_schemas import VoteContent
from worksample.app.rounds.schemas import Id
from worksample.app.server.json_figures import AnyFigure, EvaluatorBackground
from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.people import DecidedBy
from worksample.records import AmendmentAction, AmendmentTarget, EvaluatorKind, Protocol, Purpose, Standing


class VerdictView(ResponseBody):
    """A verdict. `agent`: the maker, or its number if names are hidden. `votes_passed`: by the round's own votes
    alone.
    """

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
    """Verdicts of a round. `names`: whether agents are named. `barred`: the consequence for the reader; "" for none."""

    round: str
    names: bool
    barred: str
    verdicts: tuple[VerdictView, ...]


class Strike(ResponseBody):
    """A strike that removes a vote. `target`: the vote itself, its evaluator, a submission or the instance."""

    target: AmendmentTarget
    reason: str
    author: str
    at: Micros


class Voter(ResponseBody):
    """A voter. `id`: the version of the Evaluator record, which an amendment may name. `account` is null if
    imported.
    """

    id: str
    account: str | None
    name: str
    background: EvaluatorBackground


class VoteView(ResponseBody):
    """A vote. `said`: the payload; null if the vote was declined or failed. `minutes`: active time."""

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
    """Votes of one round on a submission. `by`: the kind of evaluator; `purpose`: the round's purpose."""

    round: str
    protocol: Protocol
    purpose: Purpose
    by: EvaluatorKind
    votes: tuple[VoteView, ...]


class Outcome(ResponseBody):
    """The verdict on a submission under one protocol."""

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
    """A submission with all its votes. `agent`, `origin` and `steps` identify the maker, so they are empty without
    `names`. `criteria`: texts by id. `barred`: the consequence of reading names; "" for none.
    """

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
    """The preference on one project between two agents: 1 for the first, 0 for the second, 0.5 for neither."""

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
    """A file without a blind copy. `path`: quoted, with agents' names removed."""

    submission: str
    agent: str
    instance: str
    path: str
    leaks: tuple[str, ...]


class Leaks(ResponseBody):
    """`looked`: files that have a view; `waiting`: files without one. `files`: the first 2,000 of `leaking`."""

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
    """An experiment. `submissions`: the number of live submissions, which a new round would take."""

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
    """Pilots of the instructions in force. `needed`: the agreement that passes, on at least `fewest` items."""

    instructions: str
    passed: bool
    needed: float
    fewest: int
    pilots: tuple[PilotView, ...]
