"""JSON models of sessions, profiles, accounts and invitations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.people import Role

Token = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Password = Annotated[str, Field(max_length=2000)]
Texts = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=200)]


class Login(RequestBody):
    name: Name
    password: Password
    bearer: bool = False
    """If true, the response holds the session's token and sets no cookie. Meant for scripts."""


class Redeem(RequestBody):
    """The token of a one-time link."""

    token: Token
    bearer: bool = False


class Accept(RequestBody):
    """The token of an invitation, and the account to create. An account without a password is entered by one-time
    links.
    """

    token: Token
    name: Name
    password: Password | None = None
    bearer: bool = False


class NewPassword(RequestBody):
    old: Password
    new: Password


class ProfileBody(RequestBody):
    """The background of an evaluator. Null means unknown; money is in US dollars."""

    domains: Texts = ()
    skills: Texts = ()
    hours: float | None = Field(default=None, ge=0, le=1e7, allow_inf_nan=False)
    earnings: float | None = Field(default=None, ge=0, le=1e12, allow_inf_nan=False)
    rating: float | None = Field(default=None, ge=0, le=5, allow_inf_nan=False)
    pay_rate: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)


class ProfileShown(ResponseBody):
    domains: tuple[str, ...]
    skills: tuple[str, ...]
    hours: float | None
    earnings: float | None
    rating: float | None
    pay_rate: float | None


class AccountShown(ResponseBody):
    id: str
    name: str
    roles: tuple[Role, ...]
    domains: tuple[str, ...]


class Hosts(ResponseBody):
    """Origins of the viewer and of deliverables. `content` has a `*` in place of the capability."""

    viewer: str
    content: str


class TrainingState(ResponseBody):
    """`digest`: the version of the instructions in force; `read`: whether this person has read it."""

    digest: str
    read: bool


class Me(ResponseBody):
    account: AccountShown
    profile: ProfileShown
    csrf: str
    """The value that this session must send as X-CSRF-Token."""
    hosts: Hosts
    training: TrainingState
    version: str
    token: str | None = None
    """The session's token; null unless a script asked for it."""


class Invited(ResponseBody):
    roles: tuple[Role, ...]
    expires: Micros


Roles = Annotated[tuple[Role, ...], Field(min_length=1, max_length=len(Role))]


class AccountRow(ResponseBody):
    """An account. `last_active` is null if the person has never signed in."""

    id: str
    name: str
    roles: tuple[Role, ...]
    disabled: bool
    last_active: Micros | None
    profile: ProfileShown


class ChangeAccount(RequestBody):
    """Changes to an account. Fields that are null stay as they are."""

    roles: Roles | None = None
    disabled: bool | None = None


class NewInvitation(RequestBody):
    roles: Roles


class InvitationMade(ResponseBody):
    """A new invitation. This response is the only one that shows its token."""

    token: str
    link: str
    expires: Micros


class InvitationRow(ResponseBody):
    """An invitation. `author`: who created it, "" for the store's owner. `revoked`: revoked before anybody accepted
    it.
    """

    id: str
    roles: tuple[Role, ...]
    author: str
    expires: Micros
    used: Micros | None
    revoked: bool


class LinkMade(ResponseBody):
    """A link that opens one session of an account, once."""

    link: str
    expires: Micros
