"""JSON models of the evaluator's pages: queues, items, drafts, answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from worksample.app.server.json_models import Micros, RequestBody, ResponseBody, Seconds
from worksample.people import Form, RoundKind
from worksample.records import By, Importance

from .vote_schemas import VoteContent

Payload = dict[str, JsonValue]


class OwnProgress(ResponseBody):
    open: int
    done: int
    skipped: int


class QueueView(ResponseBody):
    """A queue in which this person may work. `missing`: what the person must do first; "" for nothing."""

    round: str
    kind: RoundKind
    form: Form
    title: str
    experiment: str
    """The experiment's name; "" for everybody but admins, because it may reveal what is compared."""
    state: Literal["open", "paused", "closed"]
    missing: str
    mine: OwnProgress
    left: int
    """Number of items that this person can still get."""
    soft_limit_minutes: float
    passed: bool | None
    """For a quiz: whether this person passed it; null before all items are answered, and for other queues."""


class Claim(RequestBody):
    round: str | None = Field(default=None, max_length=100, pattern=r"^[\w.-]*$")
    """The queue to claim from; null for any."""
    ahead: bool = False
    """Claim one more item, to load it while another is open."""


class PaneView(ResponseBody):
    label: str
    note: str
    """A note on files that were not captured."""
    content: str | None
    """The origin of its files; null if nothing was delivered."""


class OptionView(ResponseBody):
    value: str
    label: str


class AskView(ResponseBody):
    """A question. `when`: in words, when an answer is required."""

    name: str
    type: Literal["choice", "text", "yes_no", "tags", "criteria"]
    label: str
    options: tuple[OptionView, ...]
    required: bool
    when: str


class CriterionView(ResponseBody):
    """A node of the rubric: a leaf has points or an importance, a branch has parts."""

    id: str
    text: str
    points: float | None
    importance: Importance | None
    by: By
    gate: bool
    implies_others: bool
    parts: tuple[CriterionView, ...]


class CriteriaView(ResponseBody):
    criteria: tuple[CriterionView, ...]


class DraftView(ResponseBody):
    revision: int
    payload: Payload
    saved: Micros
    active_seconds: float


class ItemView(ResponseBody):
    """An item with everything that is needed to judge it, and nothing that reveals who made the work."""

    id: str
    round: str
    protocol: Form
    instance: str
    title: str
    shown: tuple[PaneView, ...]
    brief: str
    brief_html: str
    notes: str
    notes_html: str
    criteria: CriteriaView
    asks: tuple[AskView, ...]
    soft_limit_minutes: float
    early_stop: bool
    instructions: str
    instructions_page: str
    """The HTML of this form's instructions page."""
    state: str
    expires: Micros
    draft: DraftView | None
    seen: tuple[tuple[str, str], ...]
    """Files that the person has opened: (label of the pane, path)."""


class LeaseReceipt(ResponseBody):
    expires: Micros


class SaveDraft(RequestBody):
    revision: int = Field(ge=0, le=1_000_000_000)
    """The revision that this draft builds on; 0 for none."""
    payload: Payload
    active_seconds: Seconds = 0.0
    """Seconds of work since the last time that was counted."""


class Seen(RequestBody):
    pane: str = Field(max_length=100)
    path: str = Field(max_length=3000)


class Submit(RequestBody):
    payload: Payload
    key: str = Field(min_length=1, max_length=200)
    """An idempotency key: any text, the same when the request is sent again."""
    active_seconds: Seconds = 0.0


class Skip(RequestBody):
    reason: str = Field(max_length=20_000)


class Flag(RequestBody):
    kind: str = Field(max_length=100)
    text: str = Field(max_length=5000)


class AnswerReceipt(ResponseBody):
    evaluation: str


class OwnAnswer(ResponseBody):
    """The person's answer. If it was skipped, `said` is null and `reason` gives the reason."""

    said: VoteContent | None
    critical_flaw: str
    reason: str
    minutes: float | None
    at: Micros


class EarlierVote(ResponseBody):
    """An earlier vote of another evaluator, who is shown by a number."""

    voter: int
    said: Payload
    minutes: float | None


class Quiz(ResponseBody):
    """The right answer of a quiz item. Sides are those of the gold item, in whatever order they were shown."""

    right: bool
    expected: Payload
    said: Payload
    explanation: str


class OwnFlag(ResponseBody):
    """A problem that the person reported. `answer`: an admin's answer; "" while there is none."""

    kind: str
    text: str
    at: Micros
    answer: str


class HistoryRow(ResponseBody):
    """A row of the person's history."""

    item: str
    round: str
    form: Form
    title: str
    state: str
    started: Micros
    active_seconds: float
    evaluation: Annotated[str | None, Field(description="Its id, once it is in.")]
    flags: list[OwnFlag]
