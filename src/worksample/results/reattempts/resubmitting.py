"""The same work handed in once more, so that it is graded again by people who cannot tell."""

from __future__ import annotations

import secrets

from worksample.records import Ending, Experiment, Fed, Slot, Trial, TrialOutcome, now
from worksample.store import Store

from .feeding import earlier_work


def carry(store: Store, experiment: Experiment, slot: Slot) -> bool:
    """Commit a trial in which nobody worked, with the earlier work as its submission; False where none stands."""
    earlier = earlier_work(store, slot)
    if earlier is None:
        return False
    at, id = now(), f"{slot.id}.{store.tries(slot.id) + 1}.{secrets.token_hex(4)}"
    trial = Trial(
        id=id,
        slot=slot.id,
        experiment=experiment.id,
        agent=slot.agent,
        instance=slot.instance,
        work=earlier.work,
        capture=earlier.capture,
        try_number=store.tries(slot.id) + 1,
        outcome=TrialOutcome(ending=Ending.DONE),
        started=at,
        ended=at,
        working_seconds=0.0,
        fed=Fed(submission=earlier.id),
        sandbox=experiment.lock.sandbox,
    )
    store.commit(trial, earlier.replaced(id=id, trial=id, at=at, author="", note=""))
    return True
