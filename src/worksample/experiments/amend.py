"""Strike or restore a record."""

from __future__ import annotations

from uuid import uuid4

from worksample.records import (
    Action,
    Amendment,
    Evaluation,
    Evaluator,
    Instance,
    Record,
    Submission,
    Target,
    Trial,
    now,
)
from worksample.store import Store

from .config import default_author

_CLASSES: dict[Target, type[Record]] = {
    Target.TRIAL: Trial,
    Target.SUBMISSION: Submission,
    Target.EVALUATION: Evaluation,
    Target.EVALUATOR: Evaluator,
    Target.INSTANCE: Instance,
}


def amend(store: Store, *, action: str, target: str, id: str, reason: str, author: str | None = None) -> Amendment:
    """Commit an amendment. RecordMissing where the store holds no such record."""
    what = Target(target)
    store.get(_CLASSES[what], id)
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
    return amendment
