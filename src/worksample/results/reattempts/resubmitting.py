"""The same work handed in once more, so that it is graded again by people who cannot tell."""

from __future__ import annotations

from worksample.records import Ending, Experiment, Fed, Slot, TrialOutcome, now
from worksample.records.closed_trial import submission_of, trial_id, trial_record
from worksample.store import Store

from .feeding import earlier_work


def carry(store: Store, experiment: Experiment, slot: Slot) -> bool:
    """Commit a trial in which nobody worked, with the earlier work as its submission; False where none stands."""
    earlier = earlier_work(store, slot)
    if earlier is None:
        return False
    at, number = now(), store.tries(slot.id) + 1
    trial = trial_record(
        slot,
        earlier,
        trial_id(slot.id, number),
        TrialOutcome(ending=Ending.DONE),
        try_number=number,
        started=at,
        ended=at,
        working_seconds=0.0,
        fed=Fed(submission=earlier.id),
        sandbox=experiment.lock.sandbox,
    )
    store.commit(trial, submission_of(trial, earlier.parts, at))
    return True
