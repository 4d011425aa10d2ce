"""Giving items out: each to as many people as it wants, to nobody twice, back into the queue when nothing is heard.

Every change of who has what is one write transaction of the store's database; those never overlap, whether they come
from threads, processes or machines. A process that dies leaves a lease, which runs out.
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
from worksample.people.judging.item_completion import finish
from worksample.people.rounds.queues import OPEN, Queue, all_queues, find_queue
from worksample.records import digest_of
from worksample.store.people_tables import assignments, items

if TYPE_CHECKING:
    from worksample.store import Store

_a, _i = assignments.c, items.c


def evaluation_id(item: str, account: str) -> str:
    """One person's evaluation of one item has one id: handing in twice cannot make two."""
    return digest_of([item, account])[:32]


class Leasing:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._db, self._clock = store.database, clock

    def claim(self, connection: Connection, account: Account, round: str | None, *, ahead: bool) -> str | None:
        """An item's id: the one the person has open, else the next that is free; None where there is none.

        `round`: of this queue only; then NotReady says what is to be done first. Without it, queues that the person is
        not ready for are passed over. `ahead`: the next one although one is open, so that it can be loaded while the
        person works; a round limits how many may be open.
        """
        now = self._clock()
        self._sweep(connection, now)
        held = [row for row in self._open(connection, account, now) if round is None or row.queue == round]
        if held and not ahead:
            return self._again(connection, held[0], now)
        for queue in self._queues(connection, account, round):
            if sum(row.queue == queue.round for row in held) >= queue.settings["most_open"]:
                continue
            item = self._pick(connection, queue, account)
            if item is not None:
                self._take(connection, queue, item, account, now)
                return item
        return self._again(connection, held[0], now) if held else None

    def note_said(self, account: Account) -> None:
        """Note what the person handed in before a process died between the answer and the queue's note of it."""
        with self._db.writing() as connection:
            self._open(connection, account, self._clock())

    @staticmethod
    def _open(connection: Connection, account: Account, now: int) -> list[Any]:
        """What is open to the person. An item whose answer is committed is done, whatever its lease says."""
        held = []
        for row in connection.execute(sql.HELD, {"account": account.id}).all():
            id = evaluation_id(row.item, account.id)
            if connection.execute(sql.SAID, {"id": id}).first() is None:
                held.append(row)
            else:
                finish(connection, row, id, now)
        return held

    def _again(self, connection: Connection, row: Any, now: int) -> str:
        until = now + find_queue(connection, row.queue).lease
        connection.execute(sql.RETAKE, {"its_item": row.item, "its_account": row.account, "until": until})
        return str(row.item)

    def _queues(self, connection: Connection, account: Account, round: str | None) -> list[Queue]:
        if account.disabled:
            return []
        found = [find_queue(connection, round)] if round is not None else all_queues(connection)
        found = [q for q in found if q.state == OPEN and account.roles & q.roles]
        lacking = [(q, missing(connection, q, account)) for q in found]
        if round is not None and any(lacks for _, lacks in lacking):
            raise NotReady(lacking[0][1], where=round)
        return [q for q, lacks in lacking if not lacks]

    def _pick(self, connection: Connection, queue: Queue, account: Account) -> str | None:
        """The next free item in this person's order: a round trip through the places, from a start of its own."""
        start, backwards = random_start(queue.seed, account.id)
        values = {"queue": queue.round, "account": account.id, "name": name_key(account.name), "start": start}
        for before in (backwards, not backwards):
            pick = sql.PICK[backwards, before]
            if queue.settings["domains"]:
                pick = sql.within(pick, account.domains)
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
            "ordinal": states.taken, "flipped": flipped(queue.seed, account.id, states.taken), "active": 0,
            "evaluation": None,
        }  # fmt: skip
        connection.execute(sql.ASSIGN, row)

    def _sweep(self, connection: Connection, now: int) -> None:
        """Leases that ran out go back, but for those whose evaluation was committed before its process died."""
        for row in connection.execute(sql.LATE, {"now": now}).all():
            id = evaluation_id(row.item, row.account)
            if connection.execute(sql.SAID, {"id": id}).first() is not None:
                finish(connection, row, id, now)
                continue
            self._set(connection, row, state=EXPIRED)
            connection.execute(update(items).where(_i.id == row.item).values(free=_i.free + 1))

    @staticmethod
    def _set(connection: Connection, row: Any, **values: Any) -> None:
        mine = (_a.item == row.item) & (_a.account == row.account)
        connection.execute(update(assignments).where(mine).values(**values))

    # -- what is out

    def hold(self, connection: Connection, item: str, account: Account, now: int) -> Any:
        """The person's row of an item that is open to them, its lease renewed.

        One that ran out is had again where nobody took it. NotYours, Conflict.
        """
        row = own(connection, item, account)
        if row.state in (DONE, SKIPPED, STRUCK):
            raise Conflict("this item is handed in already")
        queue = find_queue(connection, row.queue)
        if row.state != LEASED:
            taken = update(items).where(_i.id == item, sql.LEFT).values(free=_i.free - 1)
            if connection.execute(taken).rowcount != 1:
                raise Conflict("the lease ran out and the item was given to others", next="take the next item")
        renewed = {"its_item": item, "its_account": account.id, "until": now + queue.lease}
        connection.execute(sql.RETAKE, renewed)
        return row

    def heartbeat(self, item: str, account: Account) -> int:
        """Keep an item; returns until when, in microseconds since 1970. NotYours, Conflict."""
        with self._db.writing() as connection:
            now = self._clock()
            row = self.hold(connection, item, account, now)
            return now + find_queue(connection, row.queue).lease

    def take_back(self, item: str, account: Account) -> None:
        """Have a skipped item again, as long as nobody else has taken it; the skip stays on record.

        NotYours, NotReady; Conflict where it was not skipped, where others have it, and where too many are open.
        """
        with self._db.writing() as connection:
            row = own(connection, item, account)
            if row.state == LEASED:
                return
            if row.state != SKIPPED:
                raise Conflict("this item was not skipped")
            queue = find_queue(connection, row.queue)
            if queue.state != OPEN:
                raise Conflict(f"the round is {queue.state}, so nothing of it is given out")
            if lacks := missing(connection, queue, account):
                raise NotReady(lacks, where=queue.round)
            held = connection.execute(sql.HELD, {"account": account.id}).all()
            held = [one for one in held if one.queue == queue.round]
            if len(held) >= queue.settings["most_open"]:
                raise Conflict("too many items are open to you", next="finish one of them first")
            free = update(items).where(_i.id == item, sql.LEFT).values(free=_i.free - 1)
            if connection.execute(free).rowcount != 1:
                raise Conflict("the item was given to others since, or it was withdrawn")
            self._set(connection, row, state=LEASED, expires=self._clock() + queue.lease, evaluation=None)

    def release(self, item: str, account: Account) -> None:
        """Give it back without a word; the person may be given it again. NotYours; nothing happens twice."""
        with self._db.writing() as connection:
            row = own(connection, item, account)
            if row.state == LEASED:
                self._set(connection, row, state=RELEASED)
                connection.execute(update(items).where(_i.id == item).values(free=_i.free + 1))


def own(connection: Connection, item: str, account: Account) -> Any:
    """The person's row of an item. NotYours where there is none, or one that only keeps the person out."""
    # Not every database can even be asked for a text that is none.
    mine = {"item": item, "account": account.id}
    row = connection.execute(sql.OWN, mine).first() if item.isalnum() and item.isascii() else None
    if row is None:
        raise NotYours("no such item here")
    return row


def missing(connection: Connection, queue: Queue, account: Account) -> str:
    """What the person has to do before this queue gives anything out; "" for nothing."""
    settings = queue.settings
    if has_seen_names(connection, queue, account.id):
        return "you have seen who made what in this round, so that others judge it"
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
    """Where in the circle of places a person begins, and whether backwards: each sees an order of their own."""
    draw = random.Random(f"order {seed} {account}")
    return draw.random(), draw.random() < 0.5


def flipped(seed: int, account: str, ordinal: int) -> bool:
    """Whether a person's item number `ordinal` is turned round: one of every two is, and which one is drawn."""
    first = int(digest_of([seed, account, ordinal // 2])[:8], 16) & 1
    return bool(first ^ (ordinal & 1))
