"""The statements of giving out, built once: under fifty evaluators building them costs more than running them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import BindParameter, Select, bindparam, case, exists, false, func, or_, select, update

from worksample.store import schema
from worksample.store.people_tables import activity, assignments, items

from .state import BARRED, LEASED, RESUMABLE

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


def _pick(backwards: bool, before: bool) -> Select[tuple[str]]:
    """The next free item on one side of the person's start, in the person's direction."""
    held = exists().where(_a.item == _i.id, _a.account == _account, _a.state.not_in(RESUMABLE))
    start: BindParameter[float] = bindparam("start")
    side = _i.place < start if before else _i.place >= start
    order = _i.place.desc() if backwards else _i.place
    free = (_i.queue == _queue) & (_i.free > 0) & ~_i.withdrawn & (_i.maker != bindparam("name")) & ~held
    return select(_i.id).where(free, side).order_by(order, _i.id).limit(1)


PICK = {(backwards, before): _pick(backwards, before) for backwards in (False, True) for before in (False, True)}
"""(backwards, the side before the start) -> statement."""


def within(query: Select[tuple[str]], domains: Sequence[str]) -> Select[tuple[str]]:
    """Only items of these domains, or of what lies under them."""
    under = [or_(_i.domain == d, _i.domain.startswith(d + "/", autoescape=True)) for d in domains]
    return query.where(or_(false(), *under))
