"""A person's queues: those of the person's roles, with the person's progress in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from worksample.people.access.account import Account
from worksample.people.access.tokens import name_key
from worksample.people.rounds.queues import CLOSED, Queue, all_queues
from worksample.store.people_tables import assignments

from . import lease_queries as sql
from .assignment_states import DONE, LEASED, SKIPPED
from .item_leases import missing_step

if TYPE_CHECKING:
    from worksample.store import Store

_a = assignments.c


@dataclass(frozen=True, slots=True)
class OwnQueue:
    """A queue with a person's progress. `missing`: what the person must do first; `left`: items that it could still
    offer.
    """

    queue: Queue
    missing: str
    open: int
    done: int
    skipped: int
    left: int


def own_queues(store: Store, account: Account) -> list[OwnQueue]:
    """List the queues for the person's roles that are not closed, by opening time."""
    with store.database.reading() as connection:
        queues = [q for q in all_queues(connection) if q.state != CLOSED and account.roles & q.roles]
        return [_own_queue(connection, queue, account) for queue in queues]


def _own_queue(connection: Connection, queue: Queue, account: Account) -> OwnQueue:
    mine = (_a.account == account.id) & (_a.queue == queue.round)
    query = select(_a.state, func.count()).where(mine).group_by(_a.state)
    counts: dict[str, int] = {row[0]: row[1] for row in connection.execute(query)}
    free = sql.FREE if not queue.settings["domains"] else sql.within_domains(sql.FREE, account.domains)
    values = {"queue": queue.round, "account": account.id, "name": name_key(account.name)}
    left: int = connection.execute(free, values).scalar_one()
    return OwnQueue(
        queue,
        missing_step(connection, queue, account),
        counts.get(LEASED, 0),
        counts.get(DONE, 0),
        counts.get(SKIPPED, 0),
        left,
    )


def has_read(store: Store, account: Account, instructions: str) -> bool:
    """Tell whether the person has read this version of the instructions."""
    read = {"account": account.id, "kind": "training", "note": instructions}
    with store.database.reading() as connection:
        return connection.execute(sql.NOTED, read).first() is not None
