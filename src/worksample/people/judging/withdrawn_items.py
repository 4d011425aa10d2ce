"""Items that are not offered: an admin withdrew them, or the work they show is struck.

This is read from the amendments at each claim and stored nowhere, so a queue follows every strike and restore at once.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, ColumnExpressionArgument, and_, exists, or_

from worksample.records import AmendmentAction, AmendmentTarget
from worksample.store import schema
from worksample.store.people_tables import items

_i = items.c


def _struck(target: AmendmentTarget, of: ColumnExpressionArgument[str]) -> ColumnElement[bool]:
    """Build the condition that a target is struck: its latest amendment counts, by time and then id, as in
    `records.struck`.
    """
    one, later = schema.amendments.alias().c, schema.amendments.alias().c
    newer = or_(later.at > one.at, and_(later.at == one.at, later.id > one.id))
    overtaken = exists().where(later.target == one.target, later.target_id == one.target_id, newer)
    return exists().where(
        one.target == target.value, one.target_id == of, one.action == AmendmentAction.STRIKE.value, ~overtaken
    )


def _is_struck(id: ColumnExpressionArgument[str]) -> ColumnElement[bool]:
    """Build the condition that a submission, or the trial it came from, is struck."""
    trial = schema.submissions.alias().c
    return or_(
        _struck(AmendmentTarget.SUBMISSION, id),
        exists().where(trial.id == id, _struck(AmendmentTarget.TRIAL, trial.trial)),
    )


WITHDRAWN: ColumnElement[bool] = or_(
    _i.withdrawn, _is_struck(_i.subject), _is_struck(_i.second), _struck(AmendmentTarget.INSTANCE, _i.instance)
)
"""Condition on an item: nobody gets it. People who have it can still submit."""
