"""Leases of items. Each item goes to the wanted number of people, to nobody twice, and back to the queue after a
timeout.

Each change is one write transaction of the store's database, and those never overlap, across threads, processes and
machines. A process that dies leaves a lease that expires.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, update

from worksample.people.access.account import Account, Role
from worksample.people.access.name_disclosure import has_seen_names
from worksample.people.access.tokens import name_key
from worksample.people.clock import Clock
from worksample.people.errors import Conflict, NotReady, NotYours
from worksample.people.judging import lease_queries as sql
from worksample.people.judging.assignment_states import DONE, EXPIRED, LEASED, RELEASED, SKIPPED, STRUCK
from worksample.people.judging.item_completion import mark_done
from worksample.people.rounds.queues import OPEN, Queue, all_queues, find_queue
from worksample.records import digest_of
from worksample.store.people_tables import assignments, items

if TYPE_CHECKING:
    from worksample.store import Store

_a, _i = assignments.c, items.c


def evaluation_id(item: str, account: str) -> str:
    """Return the id of a person's evaluation of an item. It is fixed, so submitting twice cannot create two."""
    return digest_of([item, account])[:32]


class ItemLeases:
    """The leases of a store's items."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._db, self._clock = store.database, clock

    def claim(self, connection: Connection, account: Account, round: str | None, *, ahead: bool) -> str | None:
        """Return the id of the item that the person has open, else lease the next free one; None if there is none.

        `round`: this queue only; raises NotReady if the person must do something first. Without it, such queues are
        skipped. `ahead`: lease one more while an item is open, so that it can be loaded; a round limits the number.
        """
        now = self._clock()
        self._expire_leases(connection, now)
        held = [row for row in self._open(connection, account, now) if round is None or row.queue == round]
        if held and not ahead:
            return self._lease_again(connection, held[0], now)
        for queue in self._queues(connection, account, round):
            if sum(row.queue == queue.round for row in held) >= queue.settings["most_open"]:
                continue
            item = self._pick(connection, queue, account)
            if item is not None:
                self._take(connection, queue, item, account, now)
                return item
        return self._lease_again(connection, held[0], now) if held else None

    def mark_submitted(self, account: Account) -> None:
        """Mark the person's items as done whose evaluation was committed before a crash."""
        with self._db.writing() as connection:
            self._open(connection, account, self._clock())

    @staticmethod
    def _open(connection: Connection, account: Account, now: int) -> list[Any]:
        """Return the person's open rows. An item whose evaluation is committed counts as done, even if its lease
        runs.
        """
        held = []
        for row in connection.execute(sql.HELD, {"account": account.id}).all():
            id = evaluation_id(row.item, account.id)
            if connection.execute(sql.SAID, {"id": id}).first() is None:
                held.append(row)
            else:
                mark_done(connection, row, id, now)
        return held

    def _lease_again(self, connection: Connection, row: Any, now: int) -> str:
        until = now + find_queue(connection, row.queue).lease
        connection.execute(sql.RETAKE, {"its_item": row.item, "its_account": row.account, "until": until})
        return str(row.item)

    def _queues(self, connection: Connection, account: Account, round: str | None) -> list[Queue]:
        if account.disabled:
            return []
        found = [find_queue(connection, round)] if round is not None else all_queues(connection)
        found = [q for q in found if q.state == OPEN and account.roles & q.roles]
        lacking = [(q, missing_step(connection, q, account)) for q in found]
        if round is not None and any(lacks for _, lacks in lacking):
            raise NotReady(lacking[0][1], where=round)
        return [q for q, lacks in lacking if not lacks]

    def _pick(self, connection: Connection, queue: Queue, account: Account) -> str | None:
        """Return the next free item in this person's order: a cycle from a random start."""
        start, backwards = random_start(queue.seed, account.id)
        values = {"queue": queue.round, "account": account.id, "name": name_key(account.name), "start": start}
        for before in (backwards, not backwards):
            pick = sql.PICK[backwards, before]
            if queue.settings["domains"]:
                pick = sql.within_domains(pick, account.domains)
            found = connection.execute(pick, values).first()
            if found is not None:
                return str(found.id)
        return None

    def _take(self, connection: Connection, queue: Queue, item: str, account: Account, now: int) -> None:
        connection.execute(sql.TAKE, {"one": item})
        states = connection.execute(sql.MINE, {"account": account.id, "queue": queue.round, "item": item}).one()
        mine = {"item": item, "account": account.id}
        if states.known:
            connection.execute(sql.RETAKE, {**{f"its_{k}": v for k, v in mine.items()}, "until": now + queue.lease})
            return
        row = {
            **mine, "queue": queue.round, "state": LEASED, "expires": now + queue.lease, "started": now,
            "ordinal": states.taken, "flipped": is_flipped(queue.seed, account.id, states.taken), "active": 0,
            "evaluation": None,
        }  # fmt: skip
        connection.execute(sql.ASSIGN, row)

    def _expire_leases(self, connection: Connection, now: int) -> None:
        """Return items with expired leases to the queue, except those whose evaluation was committed before a crash."""
        for row in connection.execute(sql.LATE, {"now": now}).all():
            id = evaluation_id(row.item, row.account)
            if connection.execute(sql.SAID, {"id": id}).first() is not None:
                mark_done(connection, row, id, now)
                continue
            self._set(connection, row, state=EXPIRED)
            connection.execute(update(items).where(_i.id == row.item).values(free=_i.free + 1))

    @staticmethod
    def _set(connection: Connection, row: Any, **values: Any) -> None:
        mine = (_a.item == row.item) & (_a.account == row.account)
        connection.execute(update(assignments).where(mine).values(**values))

    # -- leased items

    def renew(self, connection: Connection, item: str, account: Account, now: int) -> Any:
        """Renew the lease of an open item and return the person's row.

        An expired lease is renewed if nobody else took the item. Raises NotYours, Conflict.
        """
        row = own_row(connection, item, account)
        if row.state in (DONE, SKIPPED, STRUCK):
            raise Conflict("this item is handed in already", next="take the next item")
        queue = find_queue(connection, row.queue)
        if row.state != LEASED:
            taken = update(items).where(_i.id == item, sql.LEFT).values(free=_i.free - 1)
            if connection.execute(taken).rowcount != 1:
                raise Conflict("the lease ran out and the item was given to others", next="take the next item")
        renewed = {"its_item": item, "its_account": account.id, "until": now + queue.lease}
        connection.execute(sql.RETAKE, renewed)
        return row

    def heartbeat(self, item: str, account: Account) -> int:
        """Renew the lease of an item, and return the time at which the lease ends in microseconds since 1970. Raises
        NotYours if the person does not have the item, and Conflict if another person has taken it.
        """
        with self._db.writing() as connection:
            now = self._clock()
            row = self.renew(connection, item, account, now)
            return now + find_queue(connection, row.queue).lease

    def take_back(self, item: str, account: Account) -> None:
        """Reopen a skipped item that nobody else has taken. The skip stays on record.

        Raises NotYours, NotReady, Conflict if it was not skipped, others have it, or too many are open.
        """
        with self._db.writing() as connection:
            row = own_row(connection, item, account)
            if row.state == LEASED:
                return
            if row.state != SKIPPED:
                raise Conflict("this item was not skipped", next="take the next item")
            queue = find_queue(connection, row.queue)
            if queue.state != OPEN:
                raise Conflict(
                    f"the round is {queue.state}, so its items are not given out", next="choose another round"
                )
            if lacks := missing_step(connection, queue, account):
                raise NotReady(lacks, where=queue.round)
            held = connection.execute(sql.HELD, {"account": account.id}).all()
            held = [one for one in held if one.queue == queue.round]
            if len(held) >= queue.settings["most_open"]:
                raise Conflict("you have too many items open", next="finish one of them first")
            free = update(items).where(_i.id == item, sql.LEFT).values(free=_i.free - 1)
            if connection.execute(free).rowcount != 1:
                raise Conflict("the item was withdrawn, or given to others in the meantime", next="take the next item")
            self._set(connection, row, state=LEASED, expires=self._clock() + queue.lease, evaluation=None)

    def release(self, item: str, account: Account) -> None:
        """Give an item back; the person may get it again. Idempotent. Raises NotYours."""
        with self._db.writing() as connection:
            row = own_row(connection, item, account)
            if row.state == LEASED:
                self._set(connection, row, state=RELEASED)
                connection.execute(update(items).where(_i.id == item).values(free=_i.free + 1))


def own_row(connection: Connection, item: str, account: Account) -> Any:
    """Return the person's row of an item. Raises NotYours if there is none, or one that only bars the person."""
    # Some databases refuse queries with invalid text.
    mine = {"item": item, "account": account.id}
    row = connection.execute(sql.OWN, mine).first() if item.isalnum() and item.isascii() else None
    if row is None:
        raise NotYours("you have no such item", next="take the next item")
    return row


def missing_step(connection: Connection, queue: Queue, account: Account) -> str:
    """Return the step that the person must complete before this queue offers items; "" if no step is missing."""
    settings = queue.settings
    if has_seen_names(connection, queue, account.id):
        return "you have seen the makers' names in this round, so others judge it"
    if settings["training"] and Role.ADMIN not in account.roles:
        read = {"account": account.id, "kind": "training", "note": queue.instructions}
        if connection.execute(sql.NOTED, read).first() is None:
            return "read the training page first"
    if settings["quiz"]:
        passed = {"account": account.id, "kind": "quiz.passed", "note": settings["quiz"]}
        if connection.execute(sql.NOTED, passed).first() is None:
            return "pass the quiz first"
    return ""


def random_start(seed: int, account: str) -> tuple[float, bool]:
    """Return the person's starting point in the cycle of items, and the direction, so that each person has another
    order.
    """
    draw = random.Random(f"order {seed} {account}")
    return draw.random(), draw.random() < 0.5


def is_flipped(seed: int, account: str, ordinal: int) -> bool:
    """Return whether the two sides of a person's item number `ordinal` are swapped. Of every two items, one that is
    drawn at random is swapped.
    """
    first = int(digest_of([seed, account, ordinal // 2])[:8], 16) & 1
    return bool(first ^ (ordinal & 1))
