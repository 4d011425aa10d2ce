"""Disclosure of makers' names. An admin who has seen who made the work gets none of this work to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from worksample.people.clock import Clock
from worksample.people.errors import Conflict
from worksample.people.judging import lease_queries as sql
from worksample.people.judging.assignment_states import BARRED, LEASED, RESUMABLE
from worksample.people.rounds.queues import Queue, add_activity, all_queues
from worksample.records import Round, Submission, digest_of
from worksample.store.people_tables import activity, assignments, items

from .account import Account, Role

if TYPE_CHECKING:
    from worksample.store import Store

NAMES = "names"
_a = assignments.c


def looks_at(queue: Queue) -> list[str]:
    """Return the queue's round and the rounds whose verdicts it uses. All of them show the same deliverables."""
    return [queue.round, *(found for name in ("over", "holistic") if (found := queue.settings.get(name)))]


def has_seen_names(connection: Connection, queue: Queue, account: str) -> bool:
    """Return whether the account has seen the names of makers in the queue's round, in a round that it reviews, or in
    the work of its experiment.
    """
    seen = {"account": account, "kind": NAMES}
    whole = queue.settings.get("experiment")
    notes = [*looks_at(queue), *([whole] if whole else [])]
    return any(connection.execute(sql.NOTED, {**seen, "note": about}).first() for about in notes)


def _related_rounds(connection: Connection, round: str) -> set[str]:
    """Return the round, the rounds that it reviews, and those that review it."""
    out = {round}
    for queue in all_queues(connection):
        about = looks_at(queue)
        if queue.round == round:
            out.update(about)
        elif round in about:
            out.add(queue.round)
    return out


def refuse_votes_at_work(store: Store, account: Account, round: str) -> None:
    """Raise Conflict if the person has an open item of the round, or of a round that reviews it. The person must judge
    the item before reading the votes.
    """
    with store.database.reading() as connection:
        _refuse(connection, account, _related_rounds(connection, round))


def show_names(store: Store, account: Account, round: str, *, clock: Clock) -> None:
    """Record that an admin sees the names of a round. The account gets no more items of it or of related rounds.

    Raises Denied, RecordMissing, Conflict while the person has such an item open.
    """
    account.may(Role.ADMIN)
    record = store.get(Round, round)
    over = record.over
    with store.database.writing() as connection:
        _record_disclosure(
            connection, account, _related_rounds(connection, round), {round, *([over] if over else ())}, clock
        )


def look_at_submission(store: Store, account: Account, submission: str, *, names: bool, clock: Clock) -> None:
    """Check that an admin or reviewer may read a submission, and record it if `names` are shown.

    `names`: also show who made it and its steps; admins only. The account then gets no items of rounds that contain the
    submission, nor of later rounds of its experiment. Raises Denied, RecordMissing, Conflict while the person has an
    item with it open.
    """
    account.may(*((Role.ADMIN,) if names else (Role.ADMIN, Role.REVIEWER)))
    found = store.get(Submission, submission)
    shows = (items.c.subject == submission) | (items.c.second == submission)
    # Locks are taken only for writes.
    opening = store.database.writing if names else store.database.reading
    with opening() as connection:
        queues = set(connection.execute(select(items.c.queue).where(shows)).scalars())
        circle = {round for queue in queues for round in _related_rounds(connection, queue)}
        if names:
            _record_disclosure(
                connection, account, circle, queues | ({found.experiment} if found.experiment else set()), clock
            )
        else:
            _refuse(connection, account, circle)


def _record_disclosure(
    connection: Connection, account: Account, circle: set[str], noted: set[str], clock: Clock
) -> None:
    _refuse(connection, account, circle)
    for named in sorted(noted):
        id = digest_of([NAMES, named, account.id])[:32]
        if connection.execute(select(activity.c.id).where(activity.c.id == id)).first() is None:
            add_activity(connection, id, account.id, None, NAMES, named, clock())
    # Expired or released items could be reopened without a new claim.
    mine = (_a.account == account.id) & _a.queue.in_(circle) & _a.state.in_(RESUMABLE)
    connection.execute(update(assignments).where(mine).values(state=BARRED))


def _refuse(connection: Connection, account: Account, rounds: set[str]) -> None:
    mine = (_a.account == account.id) & _a.queue.in_(rounds) & (_a.state == LEASED)
    if connection.execute(select(_a.item).where(mine)).first() is not None:
        raise Conflict(
            "you have an item of this round open", next="hand the item in or give it back, then look at the names"
        )
