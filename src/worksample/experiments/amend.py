"""Strike or restore a record, or put a round in force."""

from __future__ import annotations

from uuid import uuid4

from worksample.records import REGISTRY, Action, Amendment, Round, Target, now
from worksample.store import Store
from worksample.verdicts.rounds import need_amendable

from .config import default_author


def amend(store: Store, *, action: str, target: str, id: str, reason: str, author: str | None = None) -> Amendment:
    """Commit an amendment. RecordMissing where the store holds no such record; UsageError for what cannot be adopted.

    The grades of an adopted round go into the logs of its experiment.
    """
    what = Target(target)
    record = store.get(REGISTRY[what.value], id)
    need_amendable(Action(action), record)
    amendment = Amendment(
        id=uuid4().hex,
        action=Action(action),
        target=what,
        target_id=id,
        reason=reason,
        author=author or default_author(),
        at=now(),
    )
    store.commit(amendment)
    if action == Action.ADOPT and isinstance(record, Round) and record.experiment is not None:
        from worksample.runs import write_scores

        write_scores(store, record.experiment, record.id)
    return amendment
