"""Authentication: FastAPI dependencies that give a route its services and the signed-in account."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.types import Scope

from worksample.app.config import AppConfig
from worksample.app.server.middleware.cookies import read_cookies
from worksample.errors import WorksampleError
from worksample.people import Account, Role

from .route_services import AppServices


class SignedOut(WorksampleError):
    """The request has no session, or its session has ended."""


def bearer_of(scope: Scope) -> str:
    """Return the token of an Authorization header; "" if there is none."""
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            return str(value[7:].decode("latin-1").strip())
    return ""


def tokens_of(scope: Scope, config: AppConfig) -> tuple[str, ...]:
    """Return the session tokens that a request shows: the Authorization header's, else those of its cookies."""
    bearer = bearer_of(scope)
    return (bearer,) if bearer else read_cookies(config, scope["headers"])


def find_session(services: AppServices, tokens: tuple[str, ...]) -> tuple[str, Account]:
    """Return the only valid session among tokens. Raises SignedOut for none, or for two: one of them was planted."""
    found = [(token, account) for token in tokens if (account := services.people.accounts.session(token)) is not None]
    if len(found) != 1:
        raise SignedOut("not signed in" if not found else "the request has two valid session cookies", next="sign in")
    return found[0]


async def services_of(request: Request) -> AppServices:
    """Return the server's services."""
    services = request.app.state.services
    assert isinstance(services, AppServices)
    return services


def signed_in(request: Request) -> Account:
    """Return the signed-in account and put the session's token into `request.state.session`. Raises SignedOut."""
    services: AppServices = request.app.state.services
    token, account = find_session(services, tokens_of(request.scope, services.config))
    request.state.session, request.state.account = token, account
    return account


async def session_of(request: Request, account: Annotated[Account, Depends(signed_in)]) -> str:
    """Return the session's token. Raises SignedOut."""
    token: str = request.state.session
    return token


def admin(account: Annotated[Account, Depends(signed_in)]) -> Account:
    """Return the account if it is an admin's. Raises SignedOut, Denied."""
    account.may(Role.ADMIN)
    return account


def reviewer(account: Annotated[Account, Depends(signed_in)]) -> Account:
    """Return the account if it is a reviewer's or an admin's. Raises SignedOut, Denied."""
    account.may(Role.REVIEWER, Role.ADMIN)
    return account


def writer(account: Annotated[Account, Depends(signed_in)]) -> Account:
    """Return the account if it may write rubrics. Raises SignedOut, Denied."""
    account.may(Role.EXPERT, Role.ADMIN)
    return account


def worker(account: Annotated[Account, Depends(signed_in)]) -> Account:
    """Return the account if it may do tasks. Raises SignedOut, Denied."""
    account.may(Role.WORKER)
    return account


ServicesOf = Annotated[AppServices, Depends(services_of)]
SignedIn = Annotated[Account, Depends(signed_in)]
SessionOf = Annotated[str, Depends(session_of)]
Admin = Annotated[Account, Depends(admin)]
Reviewer = Annotated[Account, Depends(reviewer)]
Worker = Annotated[Account, Depends(worker)]
Writer = Annotated[Account, Depends(writer)]
