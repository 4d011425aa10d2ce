"""HTTP routes for signing in and out: passwords, one-time links, invitations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from worksample.app.accounts.responses import me_of
from worksample.app.accounts.schemas import Accept, Invited, Login, Me, Redeem
from worksample.app.accounts.sign_in_throttle import SignInThrottle
from worksample.app.server.authentication import ServicesOf, SignedIn, find_session
from worksample.app.server.middleware.cookies import clear_cookie, set_cookie
from worksample.app.server.middleware.error_responses import error_responses
from worksample.app.server.route_services import AppServices
from worksample.people import Account

router = APIRouter(prefix="/api/v1", tags=["session"])


async def throttle_of(request: Request) -> SignInThrottle:
    throttle = request.app.state.throttle
    assert isinstance(throttle, SignInThrottle)
    return throttle


ThrottleOf = Annotated[SignInThrottle, Depends(throttle_of)]


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def _enter(services: AppServices, response: Response, token: str, bearer: bool) -> Me:
    _, account = find_session(services, (token,))
    if not bearer:
        response.headers["set-cookie"] = set_cookie(services.config, token)
    return me_of(services, account, token, show_token=bearer)


@router.post("/session", responses=error_responses(400, 403, 429))
def login(body: Login, request: Request, response: Response, services: ServicesOf, throttle: ThrottleOf) -> Me:
    """Sign in with a name and a password."""
    with throttle.attempt(_address(request), body.name):
        token = services.people.accounts.login(body.name, body.password)
    return _enter(services, response, token, body.bearer)


@router.post("/session/link", responses=error_responses(400, 403, 429))
def redeem(body: Redeem, request: Request, response: Response, services: ServicesOf, throttle: ThrottleOf) -> Me:
    """Sign in with the token of a one-time link."""
    with throttle.attempt(_address(request), hashing=False):
        token = services.people.accounts.redeem(body.token)
    return _enter(services, response, token, body.bearer)


@router.delete("/session", status_code=204, responses=error_responses(401, 403))
def logout(request: Request, response: Response, services: ServicesOf, account: SignedIn) -> None:
    """Sign out. The addresses of deliverables that this session received stop working."""
    token: str = request.state.session
    services.people.accounts.logout(token)
    services.capabilities.forget(token)
    response.headers["set-cookie"] = clear_cookie(services.config)


@router.get("/invitations/{token}", responses=error_responses(403, 429))
def invitation(
    token: Annotated[str, Path(max_length=200)], request: Request, services: ServicesOf, throttle: ThrottleOf
) -> Invited:
    """Return the roles that an invitation gives, and when it expires."""
    with throttle.attempt(_address(request), hashing=False):
        roles, expires = services.people.accounts.invitation_roles(token)
    return Invited(roles=tuple(sorted(roles)), expires=expires)


@router.post("/invitations/accept", responses=error_responses(400, 403, 409, 429))
def accept(body: Accept, request: Request, response: Response, services: ServicesOf, throttle: ThrottleOf) -> Me:
    """Create the account of an invitation and sign it in."""
    with throttle.attempt(_address(request)):
        account: Account = services.people.accounts.accept(body.token, body.name, body.password)
    token = services.people.accounts.open_session(account)
    return _enter(services, response, token, body.bearer)
