"""JSON models of the work pages: work to take, timer, terminal, files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from worksample.app.server.json_models import Micros, RequestBody, ResponseBody

State = Literal["free", "paused", "running", "agent", "handed_in"]
Path_ = Annotated[str, Field(min_length=1, max_length=4000)]
PIECE = 3_000_000
"""Most characters of an uploaded piece in base64."""
KEYS = 100_000
"""Most characters typed in one request."""


class WorkListRow(ResponseBody):
    """Work that this person has or may take. The state `agent` means that it is the agent's turn."""

    slot: str
    title: str
    category: str
    worker: Literal["human", "assisted"]
    state: State
    mine: bool
    hours: float | None
    """The task's estimate of the hours that people take."""
    seconds: float
    """Seconds of work by this person."""
    until: Micros | None
    """Time until which the work stays assigned to this person without a heartbeat."""


class DeliverableView(ResponseBody):
    name: str
    format: str
    required: bool
    about: str


class FolderEntry(ResponseBody):
    """A file or folder. `path`: quoted as in manifests; `size`: bytes."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int


class TurnView(ResponseBody):
    """A turn of the agent: how it ended, in words, and its last message."""

    at: Micros
    ended: str
    said: str


class WorkPage(ResponseBody):
    """The work page of one slot. `limit`: seconds that the person may work; null for no limit."""

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
    """Path of the output folder in the box; `input` is that of the inputs."""
    seconds: float
    limit: float | None
    hours: float | None
    pay: float | None
    """US dollars per hour charged for this person's time; null if unknown."""
    until: Micros | None
    turns: tuple[TurnView, ...]


class AssignmentView(ResponseBody):
    """An assigned slot, for admins. `seconds`: of work; `last`: time of the last heartbeat."""

    slot: str
    title: str
    name: str
    state: Literal["paused", "running", "agent"]
    seconds: float
    last: Micros
    until: Micros | None
    """Time until which the slot stays assigned without a heartbeat."""


class Timer(ResponseBody):
    state: State
    seconds: float
    until: Micros | None


class FolderListing(ResponseBody):
    files: tuple[FolderEntry, ...]


class Screen(ResponseBody):
    """Output of the terminal in base64. `at`: bytes shown so far, which the next request passes on."""

    data: str
    at: int
    ended: bool


class Keys(RequestBody):
    text: str = Field(max_length=KEYS)


class Window(RequestBody):
    rows: int = Field(ge=2, le=500)
    columns: int = Field(ge=2, le=1000)


class Piece(RequestBody):
    """A piece of a file for the output folder, in base64; pieces arrive in order."""

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
    """A request to hand in. `empty`: confirms that the output folder is empty on purpose."""

    empty: bool = False


class HandInReceipt(ResponseBody):
    """A receipt for work that was handed in. `files`: their number; `size`: bytes; `seconds`: of work."""

    state: State
    files: int
    size: int
    seconds: float
    status: str
    reason: str
