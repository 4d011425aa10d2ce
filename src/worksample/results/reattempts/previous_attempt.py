"""The work of the previous attempt: given to the agent as input, or submitted again without changes."""

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
from worksample.results.reattempts.feedback_prompt import feedback_prompt, shown_criteria
from worksample.results.reattempts.feedback_sources import KIND, FeedbackSources
from worksample.store import Store


@dataclass(frozen=True)
class AgentInput:
    """The input of an agent that continues earlier work. `previous` is the folder on this machine with the earlier
    output.
    """

    fed: Fed
    text: str
    previous: Path


def earlier_work(store: Store, slot: Slot) -> Submission | None:
    """Return the submission of the attempt before this slot. Return None for a first attempt, or if the submission is
    no longer valid.
    """
    for trial in store.find(Trial, slot=slot.after, live=True) if slot.after else ():
        for submission in store.find(Submission, trial=trial.id):
            gone = struck(store.find(Amendment, target_id=submission.id))
            return None if (AmendmentTarget.SUBMISSION, submission.id) in gone else submission
    return None


def prepare_input(store: Store, slot: Slot, arm: Arm, instance: Instance, protocol: Protocol) -> AgentInput | None:
    """Build the agent's input from the previous attempt. Return None if the earlier work or its feedback is no longer
    valid.

    The text is written to the store before the agent starts.
    """
    earlier = earlier_work(store, slot)
    if earlier is None:
        return None
    kind = KIND.get(arm.feedback)
    said = FeedbackSources(store, protocol).of(earlier.id, kind) if kind else ()
    if kind and not said:
        return None
    grading = instance.grading[protocol]
    text = feedback_prompt(arm, instance.work.environment.paths.output, grading.criteria, said)
    fed = Fed(submission=earlier.id, evaluations=tuple(e.id for e in said), text=store.blobs.put(text.encode("utf-8")))
    return AgentInput(fed, text, store.folder(earlier.parts["output"].manifest))


def as_shown(instance: Instance, arm: Arm, protocol: Protocol, feeding: AgentInput | None) -> Instance:
    """Return the instance as the agent of this arm sees it: with the visible criteria, and with the feedback in the
    brief.

    The instance is returned unchanged if the arm shows neither criteria nor feedback.
    """
    changes = {}
    if arm.shown_rubric is not ShownRubric.NONE:
        changes["shown_rubric"] = shown_criteria(instance.grading[protocol].criteria, arm.shown_rubric)
    if feeding is not None:
        changes["brief"] = f"{instance.work.brief.strip()}\n\n{feeding.text}"
    return instance.replaced(work=instance.work.replaced(**changes)) if changes else instance


def resubmit_earlier_work(store: Store, experiment: Experiment, slot: Slot) -> bool:
    """Commit a trial without any work, and the earlier work as its submission. People then grade the same work again
    without knowing.

    Returns False if there is no valid earlier work.
    """
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
