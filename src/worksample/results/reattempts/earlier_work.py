"""What the agent of one slot is given of the attempt before it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from worksample.records import (
    Amendment,
    AmendmentTarget,
    Arm,
    Ending,
    Experiment,
    Fed,
    Instance,
    Protocol,
    ShownRubric,
    Slot,
    Submission,
    Trial,
    TrialOutcome,
    now,
    struck,
)
from worksample.records.closed_trial import submission_of, trial_id, trial_record
from worksample.results.reattempts.feedback_prompt import shown_criteria, told
from worksample.results.reattempts.feedback_speakers import KIND, Speakers
from worksample.store import Store


@dataclass(frozen=True)
class Feeding:
    """`previous`: the earlier `output/` on this machine."""

    fed: Fed
    text: str
    previous: Path


def earlier_work(store: Store, slot: Slot) -> Submission | None:
    """What stands of the slot before; None where nothing does (any more), and for first attempts."""
    for trial in store.find(Trial, slot=slot.after, live=True) if slot.after else ():
        for submission in store.find(Submission, trial=trial.id):
            gone = struck(store.find(Amendment, target_id=submission.id))
            return None if (AmendmentTarget.SUBMISSION, submission.id) in gone else submission
    return None


def feed(store: Store, slot: Slot, arm: Arm, instance: Instance, protocol: Protocol) -> Feeding | None:
    """What the slot's agent is given; None where the earlier work or what was said of it does not stand any more.

    The words are kept as a blob before anybody works.
    """
    earlier = earlier_work(store, slot)
    if earlier is None:
        return None
    kind = KIND.get(arm.feedback)
    said = Speakers(store, protocol).of(earlier.id, kind) if kind else ()
    if kind and not said:
        return None
    grading = instance.grading[protocol]
    text = told(arm, instance.work.environment.paths.output, grading.criteria, said)
    fed = Fed(submission=earlier.id, evaluations=tuple(e.id for e in said), text=store.blobs.put(text.encode("utf-8")))
    return Feeding(fed, text, store.folder(earlier.parts["output"].manifest))


def as_shown(instance: Instance, arm: Arm, protocol: Protocol, feeding: Feeding | None) -> Instance:
    """The instance as the arm shows it: with what of the criteria is the agent's to see, and what it is given of the
    attempt before. The instance itself where that is nothing.
    """
    changes = {}
    if arm.shown_rubric is not ShownRubric.NONE:
        changes["shown_rubric"] = shown_criteria(instance.grading[protocol].criteria, arm.shown_rubric)
    if feeding is not None:
        changes["brief"] = f"{instance.work.brief.strip()}\n\n{feeding.text}"
    return instance.replaced(work=instance.work.replaced(**changes)) if changes else instance


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
