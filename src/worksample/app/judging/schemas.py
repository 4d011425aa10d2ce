"""An evaluator's work: queues, items, drafts, answers."""

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
    """A queue that this person may work in. `missing`: what has to be done first; "" for nothing."""

    round: str
    kind: RoundKind
    form: Form
    title: str
    experiment: str
    """Name; for admins alone, "" for others: it may tell what was compared."""
    state: Literal["open", "paused", "closed"]
    missing: str
    mine: OwnProgress
    left: int
    """How many items this person could still be given."""
    soft_limit_minutes: float
    passed: bool | None
    """Of a quiz: whether this person passed it; null before all of it is answered, and for other queues."""


class Claim(RequestBody):
    round: str | None = Field(default=None, max_length=100, pattern=r"^[\w.-]*$")
    """Of this queue alone."""
    ahead: bool = False
    """One more, to be loaded while another is open."""


class PaneView(ResponseBody):
    label: str
    note: str
    """What was not taken in."""
    content: str | None
    """Origin of its files; null where nothing was delivered."""


class OptionView(ResponseBody):
    value: str
    label: str


class AskView(ResponseBody):
    """A question. `when`: in words, when it must be answered."""

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
    """All that is needed to judge, and nothing that says who made it."""

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
    """HTML of this form's page."""
    state: str
    expires: Micros
    draft: DraftView | None
    seen: tuple[tuple[str, str], ...]
    """(pane's label, path)."""


class LeaseReceipt(ResponseBody):
    expires: Micros


class SaveDraft(RequestBody):
    revision: int = Field(ge=0, le=1_000_000_000)
    """The one that it builds on; 0 for none."""
    payload: Payload
    active_seconds: Seconds = 0.0
    """Worked since time was counted last."""


class Seen(RequestBody):
    pane: str = Field(max_length=100)
    path: str = Field(max_length=3000)


class Submit(RequestBody):
    payload: Payload
    key: str = Field(min_length=1, max_length=200)
    """Any text; the same one when the request is sent again."""
    active_seconds: Seconds = 0.0


class Skip(RequestBody):
    reason: str = Field(max_length=20_000)


class Flag(RequestBody):
    kind: str = Field(max_length=100)
    text: str = Field(max_length=5000)


class AnswerReceipt(ResponseBody):
    evaluation: str


class OwnAnswer(ResponseBody):
    """`said` null: skipped, and `reason` says why."""

    said: VoteContent | None
    critical_flaw: str
    reason: str
    minutes: float | None
    at: Micros


class EarlierVote(ResponseBody):
    """What one voter said before."""

    voter: int
    said: Payload
    minutes: float | None


class Quiz(ResponseBody):
    """Sides are as in the gold item, not as they were shown."""

    right: bool
    expected: Payload
    said: Payload
    explanation: str


class OwnFlag(ResponseBody):
    """What the person found wrong with an item. `answer`: an admin's, "" while there is none."""

    kind: str
    text: str
    at: Micros
    answer: str


class HistoryRow(ResponseBody):
    """One of the person's items."""

    item: str
    round: str
    form: Form
    title: str
    state: str
    started: Micros
    active_seconds: float
    evaluation: Annotated[str | None, Field(description="Its id, once it is in.")]
    flags: list[OwnFlag]
