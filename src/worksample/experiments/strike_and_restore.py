"""Commits amendments, which strike or restore a record or put a round in force."""

from __future__ import annotations

from uuid import uuid4

from worksample.records import REGISTRY, Amendment, AmendmentAction, AmendmentTarget, Round, now
from worksample.results.deciding_rounds import need_amendable
from worksample.store import Store

from .config import default_author


def amend(store: Store, *, action: str, target: str, id: str, reason: str, author: str | None = None) -> Amendment:
    """Commit an amendment. If the amendment adopts a round, also write its grades into the experiment's logs.

    Raises RecordMissing if the store lacks the record. Raises UsageError if the record is of a kind that cannot be
    adopted.
    """
    what = AmendmentTarget(target)
    record = store.get(REGISTRY[what.value], id)
    need_amendable(AmendmentAction(action), record)
    amendment = Amendment(
        id=uuid4().hex,
        action=AmendmentAction(action),
        target=what,
        target_id=id,
        reason=reason,
        author=author or default_author(),
        at=now(),
    )
    store.commit(amendment)
    if action == AmendmentAction.ADOPT and isinstance(record, Round) and record.experiment is not None:
        from worksample.runs import write_scores

        write_scores(store, record.experiment, record.id)
    return amendment
