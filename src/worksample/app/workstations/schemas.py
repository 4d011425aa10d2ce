"""Places at which people work: what is done there, the timer, the terminal, files up and down."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from worksample.app.server.json_models import Micros, RequestBody, ResponseBody

State = Literal["free", "paused", "running", "agent", "handed_in"]
Path_ = Annotated[str, Field(min_length=1, max_length=4000)]
PIECE = 3_000_000
"""Characters of a piece of a file in base64."""
KEYS = 100_000
"""Characters that can be typed at once."""


class WorkRow(ResponseBody):
    """A place that this person may have, or has. `agent`: the turn of the agent with whom they work."""

    slot: str
    title: str
    category: str
    worker: Literal["human", "assisted"]
    state: State
    mine: bool
    hours: float | None
    """What the task says that people take."""
    seconds: float
    """Of work by this person."""
    until: Micros | None
    """How long it is kept for this person without a sign of life."""


class DeliverableView(ResponseBody):
    name: str
    format: str
    required: bool
    about: str


class FolderEntry(ResponseBody):
    """`path` as manifests write it. `size` in bytes."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int


class TurnView(ResponseBody):
    """What the agent did: how it ended, in words, and what it said last."""

    at: Micros
    ended: str
    said: str


class WorkPage(ResponseBody):
    """One of this person's places. `limit`: seconds that they may work; null: as long as it takes."""

    slot: str
    title: str
    worker: Literal["human", "assisted"]
    state: State
    brief_html: str
    rubric_html: str
    deliverables: tuple[DeliverableView, ...]
    inputs: tuple[FolderEntry, ...]
    input: str
    output: str
    """Where both lie in the box."""
    seconds: float
    limit: float | None
    hours: float | None
    pay: float | None
    """US dollars per hour that this person's time is charged with; null: unknown."""
    until: Micros | None
    turns: tuple[TurnView, ...]


class AssignmentView(ResponseBody):
    """A place that somebody has, as an admin sees it. `seconds` of work; `last`: when something was heard last."""

    slot: str
    title: str
    name: str
    state: Literal["paused", "running", "agent"]
    seconds: float
    last: Micros
    until: Micros | None
    """How long it is kept without a sign of life."""


class Timer(ResponseBody):
    state: State
    seconds: float
    until: Micros | None


class FolderListing(ResponseBody):
    files: tuple[FolderEntry, ...]


class Screen(ResponseBody):
    """What the terminal showed, in base64; `at`: bytes shown so far, which the next request names."""

    data: str
    at: int
    ended: bool


class Keys(RequestBody):
    text: str = Field(max_length=KEYS)


class Window(RequestBody):
    rows: int = Field(ge=2, le=500)
    columns: int = Field(ge=2, le=1000)


class Piece(RequestBody):
    """A piece of a file for the output folder, in base64; pieces come in order."""

    path: Path_
    offset: int = Field(ge=0, le=1 << 40)
    data: str = Field(max_length=PIECE)
    last: bool


class Remove(RequestBody):
    path: Path_


class Ask(RequestBody):
    words: str = Field(min_length=1, max_length=20_000)


class LeaveWork(RequestBody):
    reason: str = Field(default="", max_length=2000)


class TakeBack(RequestBody):
    reason: str = Field(min_length=1, max_length=2000)


class HandIn(RequestBody):
    """`empty`: nothing lies in the output, and that is meant."""

    empty: bool = False


class HandInReceipt(ResponseBody):
    """`files`, `size` in bytes: of what was taken in. `seconds`: of work."""

    state: State
    files: int
    size: int
    seconds: float
    status: str
    reason: str
