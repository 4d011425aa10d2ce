"""Items that are out of their queue: an admin took them out, or what they show is struck.

Asked of the amendments at each giving out and kept nowhere: whoever strikes or restores, by whatever way, the queue
follows at once.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, ColumnExpressionArgument, and_, exists, or_

from worksample.records import AmendmentAction, AmendmentTarget
from worksample.store import schema
from worksample.store.people_tables import items

_i = items.c


def _struck(target: AmendmentTarget, of: ColumnExpressionArgument[str]) -> ColumnElement[bool]:
    """As `records.struck` says: of the amendments of a target the latest counts, by time and then by id."""
    one, later = schema.amendments.alias().c, schema.amendments.alias().c
    newer = or_(later.at > one.at, and_(later.at == one.at, later.id > one.id))
    overtaken = exists().where(later.target == one.target, later.target_id == one.target_id, newer)
    return exists().where(
        one.target == target.value, one.target_id == of, one.action == AmendmentAction.STRIKE.value, ~overtaken
    )


def _shows(id: ColumnExpressionArgument[str]) -> ColumnElement[bool]:
    """Whether a submission, or the trial that it came from, is struck."""
    trial = schema.submissions.alias().c
    return or_(
        _struck(AmendmentTarget.SUBMISSION, id),
        exists().where(trial.id == id, _struck(AmendmentTarget.TRIAL, trial.trial)),
    )


WITHDRAWN: ColumnElement[bool] = or_(
    _i.withdrawn, _shows(_i.subject), _shows(_i.second), _struck(AmendmentTarget.INSTANCE, _i.instance)
)
"""Of a row of items: nobody is given it. What is out may be handed in."""
