"""Synchronisation of queues with amendments: a struck answer is asked again of somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from worksample.records import Amendment, AmendmentAction, AmendmentTarget, struck
from worksample.store import schema
from worksample.store.people_tables import assignments, items

from .assignment_states import DONE, STRUCK
from .item_completion import settle_ties

if TYPE_CHECKING:
    from worksample.store import Store

_a, _i = assignments.c, items.c


def follow_amendment(store: Store, evaluation: str, action: AmendmentAction) -> bool:
    """Ask for one more vote in place of a struck answer, or withdraw it after a restore. Idempotent. Return whether
    anything changed.
    """
    old, new, change = (DONE, STRUCK, 1) if action is AmendmentAction.STRIKE else (STRUCK, DONE, -1)
    with store.database.writing() as connection:
        row = connection.execute(select(assignments).where((_a.evaluation == evaluation) & (_a.state == old))).first()
        if row is None:
            return False
        mine = (_a.item == row.item) & (_a.account == row.account)
        connection.execute(update(assignments).where(mine).values(state=new))
        where = (_i.id == row.item) if change > 0 else (_i.id == row.item) & (_i.free > 0)
        connection.execute(update(items).where(where).values(free=_i.free + change))
        settle_ties(connection, row.item)
        return True


def follow_all_amendments(store: Store, round: str) -> int:
    """Apply all amendments to a round's queue, whoever made them. Return the number of answers asked again."""
    e = schema.evaluations.c
    with store.database.reading() as connection:
        query = (
            select(_a.evaluation, _a.state, e.evaluator)
            .join(schema.evaluations, e.id == _a.evaluation)
            .where(_a.queue == round, _a.state.in_((DONE, STRUCK)))
        )
        rows = connection.execute(query).all()
    out = struck(store.find(Amendment)) if rows else set()
    anew = 0
    for evaluation, state, evaluator in rows:
        gone = bool({(AmendmentTarget.EVALUATION, evaluation), (AmendmentTarget.EVALUATOR, evaluator)} & out)
        if gone and state == DONE:
            anew += follow_amendment(store, evaluation, AmendmentAction.STRIKE)
        elif not gone and state == STRUCK:
            follow_amendment(store, evaluation, AmendmentAction.RESTORE)
    return anew
