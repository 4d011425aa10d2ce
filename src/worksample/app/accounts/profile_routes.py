"""HTTP routes of the signed-in person: profile and password."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from worksample.app.accounts.responses import me_of
from worksample.app.accounts.schemas import Me, NewPassword, ProfileBody
from worksample.app.server.authentication import ServicesOf, SignedIn
from worksample.app.server.middleware.cookies import set_cookie
from worksample.app.server.middleware.error_responses import error_responses
from worksample.people import Profile

from .session_routes import ThrottleOf

router = APIRouter(prefix="/api/v1/me", tags=["me"])


@router.get("", responses=error_responses(401))
def me(request: Request, services: ServicesOf, account: SignedIn) -> Me:
    """Return the signed-in account."""
    return me_of(services, account, request.state.session)


@router.put("/profile", responses=error_responses(400, 401, 403))
def set_profile(body: ProfileBody, request: Request, services: ServicesOf, account: SignedIn) -> Me:
    """Save a new version of the person's profile. Later evaluations are recorded under this version."""
    changed = services.people.accounts.set_profile(account, Profile(**body.model_dump()))
    return me_of(services, changed, request.state.session)


@router.put("/password", responses=error_responses(400, 401, 403, 429))
def set_password(
    body: NewPassword,
    request: Request,
    response: Response,
    services: ServicesOf,
    account: SignedIn,
    throttle: ThrottleOf,
) -> Me:
    """Set another password. This ends every session of the account; this browser gets a new session."""
    address = request.client.host if request.client else "unknown"
    with throttle.attempt(address, account.name):
        services.people.accounts.replace_password(account, body.old, body.new)
    services.capabilities.forget_account(account.id)
    token = services.people.accounts.open_session(account)
    response.headers["set-cookie"] = set_cookie(services.config, token)
    return me_of(services, account, token)
