"""HTTP routes by which admins manage accounts and invitations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from worksample.app.accounts.schemas import (
    AccountRow,
    ChangeAccount,
    InvitationMade,
    InvitationRow,
    LinkMade,
    NewInvitation,
    ProfileShown,
)
from worksample.app.server.authentication import Admin, ServicesOf
from worksample.app.server.middleware.error_responses import error_responses
from worksample.app.server.route_services import AppServices
from worksample.errors import RecordMissing
from worksample.people import Account, Conflict, Profile, Role, ends_at, last_active, profile_of
from worksample.people import invitations as invitations_of
from worksample.records import Evaluator

router = APIRouter(prefix="/api/v1", tags=["accounts"])
AccountId = Annotated[str, Path(max_length=100, pattern=r"^[0-9a-f]+$")]
INVITATION, LINK = "invite", "link"
"""Pages of the front end that take a token. The token follows the `#` of the address, so it reaches no server and no
log.
"""


@router.get("/accounts", responses=error_responses(401, 403))
def accounts(services: ServicesOf, account: Admin) -> list[AccountRow]:
    """List all accounts by name."""
    return _rows(services, services.people.accounts.all())


@router.patch("/accounts/{id}", responses=error_responses(401, 403, 404, 409))
def change_account(id: AccountId, body: ChangeAccount, services: ServicesOf, account: Admin) -> AccountRow:
    """Set roles, or disable or enable an account. A disabled account is signed out and loses its content addresses."""
    everybody = services.people.accounts.all()
    old = _find(everybody, id)
    changes = body.model_dump(exclude_none=True)
    roles = frozenset(body.roles) if body.roles is not None else old.roles
    left = [a for a in everybody if Role.ADMIN in a.roles and not a.disabled and a.id != id]
    if not left and (Role.ADMIN not in roles or body.disabled):
        raise Conflict("this is the last admin", next="make another account an admin first")
    return _rows(services, [services.people.accounts.change(id, account, **changes)])[0]


@router.post("/accounts/{id}/link", responses=error_responses(401, 403, 404))
def link_account(id: AccountId, services: ServicesOf, account: Admin) -> LinkMade:
    """Create a link that signs this account in once, within fifteen minutes."""
    found = _find(services.people.accounts.all(), id)
    token = services.people.accounts.one_time_link(found.name, by=account)
    return LinkMade(link=_link(services, LINK, token), expires=ends_at(services.store, token))


@router.get("/invitations", responses=error_responses(401, 403))
def invitations(services: ServicesOf, account: Admin) -> list[InvitationRow]:
    """List the invitations, the latest first."""
    names = {a.id: a.name for a in services.people.accounts.all()}
    return [
        InvitationRow(
            id=i.id, roles=tuple(Role(r) for r in i.roles), author=names.get(i.author, i.author), expires=i.expires,
            used=i.used, revoked=i.revoked,
        )
        for i in invitations_of(services.store)
    ]  # fmt: skip


@router.post("/invitations", status_code=201, responses=error_responses(401, 403))
def invite(body: NewInvitation, services: ServicesOf, account: Admin) -> InvitationMade:
    """Create an invitation to an account with these roles. It works once, within seven days."""
    token = services.people.accounts.invite(body.roles, by=account)
    link = _link(services, INVITATION, token)
    return InvitationMade(token=token, link=link, expires=ends_at(services.store, token))


@router.post("/invitations/{id}/revoke", status_code=204, responses=error_responses(401, 403, 404, 409))
def revoke_invitation(id: AccountId, services: ServicesOf, account: Admin) -> None:
    """Revoke an invitation that nobody has accepted yet. Its link stops working."""
    services.people.accounts.revoke(id, by=account)


def _link(services: AppServices, page: str, token: str) -> str:
    return f"{services.config.app_origin}/{page}#{token}"


def _find(everybody: list[Account], id: str) -> Account:
    for found in everybody:
        if found.id == id:
            return found
    raise RecordMissing("no such account", where=id, next="choose one of the list of accounts")


def _rows(services: AppServices, found: list[Account]) -> list[AccountRow]:
    seen = last_active(services.store)
    known = {e.id: profile_of(e) for e in services.store.find(Evaluator, id=sorted({a.evaluator for a in found}))}
    return [
        AccountRow(
            id=a.id, name=a.name, roles=tuple(sorted(a.roles)), disabled=a.disabled, last_active=seen.get(a.id),
            profile=ProfileShown(**known.get(a.evaluator, Profile()).model_dump()),
        )
        for a in found
    ]  # fmt: skip
