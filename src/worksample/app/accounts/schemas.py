"""Signing in, and who is signed in."""

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
    """Answer with the session's token in place of a cookie: for scripts."""


class Redeem(RequestBody):
    """A one-time link's token."""

    token: Token
    bearer: bool = False


class Accept(RequestBody):
    """An invitation's token, and the account that is to be made. Without a password it is entered by links alone."""

    token: Token
    name: Name
    password: Password | None = None
    bearer: bool = False


class NewPassword(RequestBody):
    old: Password
    new: Password


class ProfileBody(RequestBody):
    """What is known of an evaluator; null is unknown. US dollars."""

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
    """Origins. `content` has a star in place of a capability."""

    viewer: str
    content: str


class TrainingState(ResponseBody):
    """`digest`: version of the instructions in force; `read`: whether this person has read it."""

    digest: str
    read: bool


class Me(ResponseBody):
    account: AccountShown
    profile: ProfileShown
    csrf: str
    """For X-CSRF-Token; it belongs to this session."""
    hosts: Hosts
    training: TrainingState
    version: str
    token: str | None = None
    """The session's, where a script asked for it."""


class Invited(ResponseBody):
    roles: tuple[Role, ...]
    expires: Micros


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
