"""Giving items out: each to as many people as it wants, to nobody twice, back into the queue when nothing is heard.

Every change of who has what is one write transaction of the store's database; those never overlap, whether they come
from threads, processes or machines. A process that dies leaves a lease, which runs out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, exists, false, func, or_, select, update

from worksample.records import digest_of
from worksample.store import schema
from worksample.store.people_tables import activity, assignments, items

from .account import Account, Role
from .clock import Clock
from .closing import finish
from .faults import Conflict, NotReady, NotYours
from .opening import random_start
from .queues import OPEN, Queue, all_queues, find_queue
from .tokens import name_key

if TYPE_CHECKING:
    from worksample.store import Store

LEASED, DONE, EXPIRED, RELEASED, SKIPPED, BARRED, STRUCK = (
    "leased", "done", "expired", "released", "skipped", "barred", "struck",
)  # fmt: skip
_RESUMABLE = (EXPIRED, RELEASED)
_a, _i = assignments.c, items.c


def evaluation_id(item: str, account: str) -> str:
    """One person's evaluation of one item has one id: handing in twice cannot make two."""
    return digest_of([item, account])[:32]


class Leasing:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._db, self._clock = store.database, clock

    def claim(self, account: Account, round: str | None = None) -> str | None:
        """An item's id: the one the person has open, else the next that is free; None where there is none.

        `round`: of this queue only; then NotReady says what is to be done first. Without it, queues that the person is
        not ready for are passed over.
        """
        with self._db.writing() as connection:
            now = self._clock()
            self._sweep(connection, now)
            mine = (_a.account == account.id) & (_a.state == LEASED)
            if round is not None:
                mine &= _a.queue == round
            held = connection.execute(select(assignments).where(mine).order_by(_a.started, _a.item).limit(1)).first()
            if held is not None:
                lease = find_queue(connection, held.queue).lease
                self._set(connection, held, expires=now + lease)
                return str(held.item)
            for queue in self._queues(connection, account, round):
                item = self._pick(connection, queue, account)
                if item is not None:
                    self._take(connection, queue, item, account, now)
                    return item
        return None

    def _queues(self, connection: Connection, account: Account, round: str | None) -> list[Queue]:
        if account.disabled:
            return []
        found = [find_queue(connection, round)] if round is not None else all_queues(connection)
        found = [q for q in found if q.state == OPEN and account.roles & q.roles]
        if round is not None:
            for queue in found:
                lacks = missing(connection, queue, account)
                if lacks:
                    raise NotReady(lacks, where=queue.round)
        return [q for q in found if not missing(connection, q, account)]

    def _pick(self, connection: Connection, queue: Queue, account: Account) -> str | None:
        """The next free item in this person's order: a round trip through the places, from a start of its own."""
        held = exists().where((_a.item == _i.id) & (_a.account == account.id) & _a.state.not_in(_RESUMABLE))
        free = (_i.queue == queue.round) & (_i.free > 0) & ~_i.withdrawn & ~held
        free &= _i.maker != name_key(account.name)
        if queue.settings["domains"]:
            under = [or_(_i.domain == d, _i.domain.startswith(d + "/", autoescape=True)) for d in account.domains]
            free &= or_(false(), *under)
        start, backwards = random_start(queue.seed, account.id)
        order = _i.place.desc() if backwards else _i.place
        ahead = _i.place <= start if backwards else _i.place >= start
        for part in (ahead, ~ahead):
            query = select(_i.id).where(free & part).order_by(order, _i.id).limit(1)
            found: str | None = connection.execute(query).scalar_one_or_none()
            if found is not None:
                return found
        return None

    def _take(self, connection: Connection, queue: Queue, item: str, account: Account, now: int) -> None:
        connection.execute(update(items).where(_i.id == item).values(free=_i.free - 1))
        mine = and_(_a.item == item, _a.account == account.id)
        if connection.execute(select(_a.item).where(mine)).first() is not None:
            connection.execute(update(assignments).where(mine).values(state=LEASED, expires=now + queue.lease))
            return
        taken = (_a.account == account.id) & (_a.queue == queue.round) & (_a.state != BARRED)
        ordinal = connection.execute(select(func.count()).select_from(assignments).where(taken)).scalar_one()
        row = {
            "item": item, "account": account.id, "queue": queue.round, "state": LEASED, "expires": now + queue.lease,
            "started": now, "ordinal": ordinal, "flipped": _flipped(queue.seed, account.id, ordinal), "active": 0,
            "evaluation": None,
        }  # fmt: skip
        connection.execute(assignments.insert().values(row))

    def _sweep(self, connection: Connection, now: int) -> None:
        """Leases that ran out go back, but for those whose evaluation was committed before its process died."""
        late = connection.execute(select(assignments).where((_a.state == LEASED) & (_a.expires <= now))).all()
        for row in late:
            id = evaluation_id(row.item, row.account)
            table = schema.evaluations
            if connection.execute(select(table.c.id).where(table.c.id == id)).first() is not None:
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
        if row.state == LEASED:
            self._set(connection, row, expires=now + queue.lease)
        else:
            taken = update(items).where((_i.id == item) & (_i.free > 0) & ~_i.withdrawn).values(free=_i.free - 1)
            if connection.execute(taken).rowcount != 1:
                raise Conflict("the lease ran out and the item was given to others", next="take the next item")
            self._set(connection, row, state=LEASED, expires=now + queue.lease)
        return row

    def heartbeat(self, item: str, account: Account) -> int:
        """Keep an item; returns until when, in microseconds since 1970. NotYours, Conflict."""
        with self._db.writing() as connection:
            now = self._clock()
            row = self.hold(connection, item, account, now)
            return now + find_queue(connection, row.queue).lease

    def release(self, item: str, account: Account) -> None:
        """Give it back without a word; the person may be given it again. NotYours; nothing happens twice."""
        with self._db.writing() as connection:
            row = own(connection, item, account)
            if row.state == LEASED:
                self._set(connection, row, state=RELEASED)
                connection.execute(update(items).where(_i.id == item).values(free=_i.free + 1))


def own(connection: Connection, item: str, account: Account) -> Any:
    """The person's row of an item. NotYours where there is none, or one that only keeps the person out."""
    mine = (_a.item == item) & (_a.account == account.id) & (_a.state != BARRED)
    row = connection.execute(select(assignments).where(mine)).first()
    if row is None:
        raise NotYours("no such item here")
    return row


def missing(connection: Connection, queue: Queue, account: Account) -> str:
    """What the person has to do before this queue gives anything out; "" for nothing."""
    settings = queue.settings
    if settings["training"] and Role.ADMIN not in account.roles:
        read = (activity.c.account == account.id) & (activity.c.kind == "training")
        read &= activity.c.note == queue.instructions
        if connection.execute(select(activity.c.id).where(read)).first() is None:
            return "read the training page first"
    if settings["quiz"]:
        passed = (activity.c.account == account.id) & (activity.c.kind == "quiz.passed")
        passed &= activity.c.note == settings["quiz"]
        if connection.execute(select(activity.c.id).where(passed)).first() is None:
            return "pass the quiz first"
    return ""


def _flipped(seed: int, account: str, ordinal: int) -> bool:
    """In every two items of a person one is turned round: which, is drawn."""
    first = int(digest_of([seed, account, ordinal // 2])[:8], 16) & 1
    return bool(first ^ (ordinal & 1))
