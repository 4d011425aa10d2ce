"""Accounts, flags, what comes in and goes out, and what this server can show."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from worksample.people import Form, Role
from worksample.records import ResolutionRule

from .base import Micros, RequestBody, ResponseBody
from .session import ProfileShown

Roles = Annotated[tuple[Role, ...], Field(min_length=1, max_length=len(Role))]


class AccountRow(ResponseBody):
    """`last_active`: null for somebody who was never here."""

    id: str
    name: str
    roles: tuple[Role, ...]
    disabled: bool
    last_active: Micros | None
    profile: ProfileShown


class ChangeAccount(RequestBody):
    """What is left out stays as it is."""

    roles: Roles | None = None
    disabled: bool | None = None


class NewInvitation(RequestBody):
    roles: Roles


class InvitationMade(ResponseBody):
    """The token is shown this once."""

    token: str
    link: str
    expires: Micros


class InvitationRow(ResponseBody):
    """`author`: who gave it out, "" for the store's owner. `revoked`: taken back before anybody accepted it."""

    id: str
    roles: tuple[Role, ...]
    author: str
    expires: Micros
    used: Micros | None
    revoked: bool


class LinkMade(ResponseBody):
    """Opens one session of an account, once."""

    link: str
    expires: Micros


class FlagClosed(ResponseBody):
    """What became of a flag. `by`: the admin's name."""

    note: str
    by: str
    at: Micros


class CloseFlag(RequestBody):
    note: str = Field(min_length=1, max_length=5000)


class FlagView(ResponseBody):
    """What somebody found wrong with an item. `withdrawn`: whether the item is out of its queue; `closed`: null while
    no admin has answered."""

    id: str
    item: str
    round: str
    instance: str
    account: str
    name: str
    kind: str
    text: str
    at: Micros
    withdrawn: bool
    closed: FlagClosed | None


class NewImport(RequestBody):
    """`data`: the file as text. `author`: whose import it is; "" for this account."""

    form: Form
    format: Literal["csv", "jsonl"]
    data: str
    author: str = Field(default="", max_length=200)
    reason: str = Field(default="", max_length=5000)
    rule: ResolutionRule | None = None


class Imported(ResponseBody):
    """`again`: the same file was imported before, and nothing came in."""

    round: str
    evaluations: int
    subjects: int
    again: bool


class FormatView(ResponseBody):
    """`line`: what to type where something that it needs is missing."""

    title: str
    extensions: tuple[str, ...]
    kind: str
    badge: str
    needs: tuple[str, ...]
    here: bool
    line: str


class RunningFolder(ResponseBody):
    files: int
    done: int
    seconds: float


class ConversionFault(ResponseBody):
    what: str
    next: str
    at: Micros


class Conversions(ResponseBody):
    """How far the preparing of deliverables is. `asked`: views that somebody waits for."""

    folders: int
    done: int
    waiting: int
    failed: int
    running: tuple[RunningFolder, ...]
    asked: int
    boxes: int
    faults: tuple[ConversionFault, ...]
