"""Amendments: strike or restore records, and update the queues accordingly. Records are never deleted."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from sqlalchemy import update

from worksample.errors import UsageError
from worksample.records import REGISTRY, Amendment, AmendmentAction, AmendmentTarget, Evaluation
from worksample.results.deciding_rounds import need_amendable
from worksample.store.people_tables import items

from .access.account import Account, Role
from .clock import Clock, moment
from .judging.queue_sync import follow_amendment
from .round_verdicts import findings

if TYPE_CHECKING:
    from worksample.store import Store

_i = items.c


def amend(
    store: Store,
    by: Account,
    action: AmendmentAction,
    target: AmendmentTarget,
    target_id: str,
    reason: str,
    *,
    clock: Clock,
) -> Amendment:
    """Strike or restore a record, or put a round in force.

    After a strike of an evaluation its item goes back to the queue for one more vote by somebody else; restoring undoes
    this unless somebody has the item. Nobody gets items of a struck trial, submission or instance (`withdrawn_items`).
    Raises RecordMissing, Denied, UsageError without a reason.
    """
    by.may(Role.ADMIN, Role.REVIEWER)
    if not reason.strip():
        raise UsageError("an amendment needs a reason", next="give the reason, in a sentence")
    need_amendable(action, store.get(REGISTRY[target.value], target_id))
    amendment = Amendment(
        id=uuid.uuid4().hex, action=action, target=target, target_id=target_id, reason=reason.strip(),
        author=f"person-{by.id}", at=moment(clock()),
    )  # fmt: skip
    store.commit(amendment)
    update_queue(store, amendment)
    return amendment


def update_queue(store: Store, amendment: Amendment) -> None:
    """Offer struck items again, and withdraw the extra vote of restored items. Idempotent."""
    if amendment.target is AmendmentTarget.EVALUATION:
        follow_amendment(store, amendment.target_id, amendment.action)
    elif amendment.target is AmendmentTarget.EVALUATOR:
        for evaluation in store.find(Evaluation, evaluator=amendment.target_id):
            follow_amendment(store, evaluation.id, amendment.action)


def strike_findings(store: Store, by: Account, round: str, *, clock: Clock) -> list[Amendment]:
    """Strike all submissions in which an integrity round over this one found something. Return the new amendments.

    Submissions that are struck already are skipped. `metrics.with_and_without` compares the figures.
    """
    from worksample.records import struck

    out = struck(store.find(Amendment))
    made = []
    for subject, labels in sorted(findings(store, round).items()):
        if (AmendmentTarget.SUBMISSION, subject) not in out:
            reason = f"integrity review: {', '.join(labels)}"
            made.append(
                amend(store, by, AmendmentAction.STRIKE, AmendmentTarget.SUBMISSION, subject, reason, clock=clock)
            )
    return made


def withdraw(store: Store, by: Account, item: str) -> None:
    """Take an item out of its queue. Its evaluations stay."""
    by.may(Role.ADMIN)
    with store.database.writing() as connection:
        if connection.execute(update(items).where(_i.id == item).values(withdrawn=True)).rowcount != 1:
            raise UsageError("this store has no such item", where=item, next="load the list of items anew")
