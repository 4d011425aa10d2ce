"""Data for the list of accounts: last activity and invitations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from worksample.store.people_tables import accounts, activity, assignments, sessions, tickets

from .sign_in import IDLE, INVITED, REVOKED
from .tokens import hash_token

if TYPE_CHECKING:
    from worksample.store import Store


def last_active(store: Store) -> dict[str, int]:
    """Return the time of each account's last activity in microseconds since 1970, by account id. Accounts without
    activity are left out.
    """
    queries = (
        # A session's end is extended by use, so it reveals the last use to within ten minutes.
        select(sessions.c.account, func.max(sessions.c.expires) - IDLE).group_by(sessions.c.account),
        select(accounts.c.id, accounts.c.active_until),
        select(assignments.c.account, func.max(assignments.c.started)).group_by(assignments.c.account),
        select(activity.c.account, func.max(activity.c.at)).group_by(activity.c.account),
    )
    out: dict[str, int] = {}
    with store.database.reading() as connection:
        for query in queries:
            for account, at in connection.execute(query):
                if at:
                    out[account] = max(out.get(account, 0), int(at))
    return out


def counted_until(store: Store, names: Iterable[str]) -> int:
    """Return the time up to which the working time of these people has been counted, in microseconds since 1970. Return
    0 if no time has been counted.
    """
    chosen = accounts.c.name.in_(tuple(names))
    with store.database.reading() as connection:
        return connection.execute(select(func.max(accounts.c.active_until)).where(chosen)).scalar() or 0


@dataclass(frozen=True, slots=True)
class Invitation:
    """Invitation, without its token. `author` is the id of the account that made it, or "" for the store's owner. If
    `revoked` is True, the invitation can no longer be used.
    """

    id: str
    roles: tuple[str, ...]
    author: str
    expires: int
    used: int | None
    revoked: bool


def invitations(store: Store) -> list[Invitation]:
    """List the stored invitations, the latest first."""
    query = select(tickets).where(tickets.c.kind.in_([INVITED, REVOKED]))
    query = query.order_by(tickets.c.expires.desc(), tickets.c.hash)
    with store.database.reading() as connection:
        rows = connection.execute(query).all()
    return [
        Invitation(r.hash[:16], tuple(r.roles.split(",")), r.author, r.expires, r.used, r.kind == REVOKED) for r in rows
    ]


def ends_at(store: Store, token: str) -> int:
    """Return the time at which an invitation or one-time link expires, in microseconds since 1970. Return 0 if the
    token is unknown.
    """
    query = select(tickets.c.expires).where(tickets.c.hash == hash_token(token))
    with store.database.reading() as connection:
        return int(connection.execute(query).scalar() or 0)
