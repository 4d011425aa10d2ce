"""Flags: people report problems with items, and admins answer. Rows are only added."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from worksample.errors import RecordMissing, UsageError
from worksample.people.access.account import Account, Role
from worksample.people.access.tokens import storable
from worksample.people.clock import Clock
from worksample.people.errors import Conflict
from worksample.people.judging.item_leases import own_row
from worksample.people.judging.withdrawn_items import WITHDRAWN
from worksample.people.rounds.queues import add_activity
from worksample.store.people_tables import activity, items

if TYPE_CHECKING:
    from worksample.store import Store

FLAGS = ("broken file", "blinding leak", "brief unclear", "unsafe", "other")
LONGEST = 5000
_FLAG, _CLOSED = "flag", "flag closed"
_OF = "closed-"
"""Prefix of a closure's id before the flag's id, so that a flag is closed only once."""
_a, _i = activity.c, items.c


@dataclass(frozen=True, slots=True)
class FlagClosure:
    """An admin's answer to a flag. `by`: an account's id."""

    note: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class ItemFlag:
    """A reported problem. `account`: who reported it; `withdrawn`: the item is out of its queue; `closed`: None while
    open.
    """

    id: str
    item: str
    round: str
    instance: str
    account: str
    kind: str
    text: str
    at: int
    withdrawn: bool
    closed: FlagClosure | None


def raise_flag(store: Store, item: str, account: Account, kind: str, text: str, *, clock: Clock) -> None:
    """Report a problem with an item. The person keeps the item. Raises NotYours."""
    if kind not in FLAGS:
        raise UsageError(f"no such flag: {kind}", next=f"one of {', '.join(FLAGS)}")
    with store.database.writing() as connection:
        own_row(connection, item, account)
        said = f"{kind}: {storable(text).strip()[:LONGEST]}"
        add_activity(connection, uuid.uuid4().hex, account.id, item, _FLAG, said, clock())


def close_flag(store: Store, by: Account, id: str, text: str, *, clock: Clock) -> None:
    """Answer a flag; evaluations do not change. Raises Denied, RecordMissing, Conflict if it is closed, UsageError
    without a note.
    """
    by.may(Role.ADMIN)
    said = storable(text).strip()[:LONGEST]
    if not said:
        raise UsageError(
            "a flag cannot be closed without a note on its outcome",
            next="write what the check of the flagged work showed",
        )
    with store.database.writing() as connection:
        item = connection.execute(select(_a.item).where((_a.id == id) & (_a.kind == _FLAG))).scalar()
        if item is None:
            raise RecordMissing("the flag is not in this store", where=id, next="load the list of flags anew")
        if id in _closings(connection):
            raise Conflict("this flag is closed already", next="load the list of flags anew")
        add_activity(connection, _OF + id, by.id, item, _CLOSED, said, clock())


def all_flags(store: Store, raised_by: str = "") -> list[ItemFlag]:
    """List all flags, or those of one account, the latest first."""
    query = (
        select(activity, _i.queue, _i.instance, WITHDRAWN.label("withdrawn"))
        .join(items, _i.id == _a.item)
        .where(_a.kind == _FLAG)
        .order_by(_a.at.desc(), _a.id)
    )
    if raised_by:
        query = query.where(_a.account == raised_by)
    with store.database.reading() as connection:
        closed = _closings(connection)
        rows = connection.execute(query).all()
    out = []
    for row in rows:
        kind, _, text = row.note.partition(": ")
        out.append(
            ItemFlag(
                id=row.id, item=row.item, round=row.queue, instance=row.instance, account=row.account, kind=kind,
                text=text, at=row.at, withdrawn=row.withdrawn, closed=closed.get(row.id),
            )
        )  # fmt: skip
    return out


def _closings(connection: Connection) -> dict[str, FlagClosure]:
    """Return flag -> closure."""
    rows = connection.execute(select(_a.id, _a.note, _a.account, _a.at).where(_a.kind == _CLOSED))
    return {row.id.removeprefix(_OF): FlagClosure(row.note, row.account, row.at) for row in rows}
