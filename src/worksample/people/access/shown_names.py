"""Who made what, shown to an admin: whoever has seen it judges nothing of it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from worksample.people.clock import Clock
from worksample.people.faults import Conflict
from worksample.people.rounds.queues import Queue, all_queues, note
from worksample.people.work import statements as sql
from worksample.people.work.assignment_states import BARRED, LEASED, RESUMABLE
from worksample.records import Round, digest_of
from worksample.store.people_tables import activity, assignments

from .account import Account, Role

if TYPE_CHECKING:
    from worksample.store import Store

NAMES = "names"
_a = assignments.c


def looks_at(queue: Queue) -> list[str]:
    """The round, and those whose verdicts it goes by: they show the same deliverables."""
    return [queue.round, *(found for name in ("over", "holistic") if (found := queue.settings.get(name)))]


def has_seen_names(connection: Connection, queue: Queue, account: str) -> bool:
    """Whether the names of a queue's round, or of one that it looks at, were shown to this person."""
    seen = {"account": account, "kind": NAMES}
    return any(connection.execute(sql.NOTED, {**seen, "note": round}).first() for round in looks_at(queue))


def _circle(connection: Connection, round: str) -> set[str]:
    """The round, what it looks at, and what looks at it."""
    out = {round}
    for queue in all_queues(connection):
        about = looks_at(queue)
        if queue.round == round:
            out.update(about)
        elif round in about:
            out.add(queue.round)
    return out


def refuse_votes_at_work(store: Store, account: Account, round: str) -> None:
    """Conflict while the person has an item of the round, or of one that looks at it, open: first judge, then read."""
    with store.database.reading() as connection:
        _refuse(connection, account, _circle(connection, round))


def show_names(store: Store, account: Account, round: str, *, clock: Clock) -> None:
    """Let an admin see who made what in a round, and note it: nothing of the round, of what it looks at, or of what
    looks at it is given to this account from now on. Denied, RecordMissing, Conflict while an item of theirs is open.
    """
    account.may(Role.ADMIN)
    record = store.get(Round, round)
    over = record.over
    with store.database.writing() as connection:
        circle = _circle(connection, round)
        _refuse(connection, account, circle)
        for named in (round, *([over] if over else ())):
            id = digest_of([NAMES, named, account.id])[:32]
            if connection.execute(select(activity.c.id).where(activity.c.id == id)).first() is None:
                note(connection, id, account.id, None, NAMES, named, clock())
        # What ran out or was given back could be had again without asking for the next one.
        mine = (_a.account == account.id) & _a.queue.in_(circle) & _a.state.in_(RESUMABLE)
        connection.execute(update(assignments).where(mine).values(state=BARRED))


def _refuse(connection: Connection, account: Account, rounds: set[str]) -> None:
    mine = (_a.account == account.id) & _a.queue.in_(rounds) & (_a.state == LEASED)
    if connection.execute(select(_a.item).where(mine)).first() is not None:
        raise Conflict("you have an item of this round open", next="hand it in or give it back, then look")
