"""SQL statements of the item leases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import (
    BindParameter,
    Select,
    bindparam,
    case,
    delete,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    update,
)

from worksample.store import schema
from worksample.store.people_tables import accounts, activity, assignments, drafts, items, queues, seen, sessions

from .assignment_states import BARRED, LEASED, RESUMABLE
from .withdrawn_items import WITHDRAWN

T = TypeVar("T")
_a, _i = assignments.c, items.c
_account: BindParameter[str] = bindparam("account")
_queue: BindParameter[str] = bindparam("queue")

LATE = select(assignments).where(_a.state == LEASED, _a.expires <= bindparam("now"))
HELD = select(assignments).where(_a.account == _account, _a.state == LEASED).order_by(_a.started, _a.item)
SAID = select(schema.evaluations.c.id).where(schema.evaluations.c.id == bindparam("id"))
NOTED = select(activity.c.id).where(
    activity.c.account == _account, activity.c.kind == bindparam("kind"), activity.c.note == bindparam("note")
)
TAKE = update(items).where(_i.id == bindparam("one")).values(free=_i.free - 1)
MINE = select(
    func.coalesce(func.sum(case((_a.state != BARRED, 1), else_=0)), 0).label("taken"),
    func.coalesce(func.sum(case((_a.item == bindparam("item"), 1), else_=0)), 0).label("known"),
).where(_a.account == _account, _a.queue == _queue)
RETAKE = (
    update(assignments)
    .where(_a.item == bindparam("its_item"), _a.account == bindparam("its_account"))
    .values(state=LEASED, expires=bindparam("until"))
)
ASSIGN = assignments.insert()


_held = exists().where(_a.item == _i.id, _a.account == _account, *(_a.state != state for state in RESUMABLE))
# Literals and a separate `withdrawn` let the database use the index of free items.
LEFT = (_i.free > literal_column("0")) & ~_i.withdrawn & ~WITHDRAWN
"""SQL condition that an item can still be claimed by somebody."""
_free = (_i.queue == _queue) & LEFT & (_i.maker != bindparam("name")) & ~_held
FREE = select(func.count()).select_from(items).where(_free)
"""SQL query for the number of items of a queue that a person could get."""


def _pick(backwards: bool, before: bool) -> Select[tuple[str]]:
    """Build the query for the next free item on one side of the person's start, in the person's direction."""
    start: BindParameter[float] = bindparam("start")
    side = _i.place < start if before else _i.place >= start
    order = _i.place.desc() if backwards else _i.place
    return select(_i.id).where(_free, side).order_by(order, _i.id).limit(1)


PICK = {(backwards, before): _pick(backwards, before) for backwards in (False, True) for before in (False, True)}
"""(backwards, the side before the start) -> statement."""


def within_domains(query: Select[T], domains: Sequence[str]) -> Select[T]:
    """Restrict a query to items of these domains and of domains below them."""
    under = [or_(_i.domain == d, _i.domain.startswith(d + "/", autoescape=True)) for d in domains]
    return query.where(or_(false(), *under))


# -- one row by its key

ITEM = select(items).where(_i.id == bindparam("id"))
OWN = select(assignments).where(_a.item == bindparam("item"), _a.account == _account, _a.state != BARRED)
QUEUE = select(queues).where(queues.c.round == bindparam("round"))
QUEUES = select(queues).order_by(queues.c.at, queues.c.round)
DRAFT = select(drafts).where(drafts.c.item == bindparam("item"), drafts.c.account == _account)
SEEN = (
    select(seen.c.pane, seen.c.path)
    .where(seen.c.item == bindparam("item"), seen.c.account == _account)
    .order_by(seen.c.pane, seen.c.path)
)
SESSION = (
    select(accounts, sessions.c.expires, sessions.c.ends)
    .select_from(sessions.join(accounts, accounts.c.id == sessions.c.account))
    .where(sessions.c.hash == bindparam("hash"))
)

# -- changes of one row; parameters of an update may not be named like its columns

_mine = (_a.item == bindparam("its_item")) & (_a.account == bindparam("its_account"))
_draft = (drafts.c.item == bindparam("its_item")) & (drafts.c.account == bindparam("its_account"))
WORKED = update(assignments).where(_mine).values(active=_a.active + bindparam("credit"))
UNTIL = select(accounts.c.active_until).where(accounts.c.id == _account)
COUNTED = update(accounts).where(accounts.c.id == bindparam("its_account")).values(active_until=bindparam("until"))
NO_DRAFT = delete(drafts).where(_draft)
NEW_DRAFT = drafts.insert()
FINISH = (
    update(assignments)
    .where(_mine, _a.state.in_((LEASED, *RESUMABLE)))
    .values(state=bindparam("now_state"), evaluation=bindparam("its_evaluation"), expires=bindparam("until"))
)
