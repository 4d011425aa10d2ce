"""The turns of a person and an agent who share a slot, and the prompt for the agent's turn."""

from __future__ import annotations

from worksample.errors import Cause
from worksample.records import Arm, Experiment, Fed, Instance, Manifest, Slot, Submission, Trial, Worker
from worksample.results.assignments.assignment import assignment_of
from worksample.results.reattempts.feedback_prompt import PREVIOUS
from worksample.results.reattempts.previous_attempt import AgentInput
from worksample.store import Store, put_canonical

TURN_PROMPT = """## A person works on this task with you

The current files are in {previous}, read-only. The person asks you:

{asked}

Put every file that you add or change into {output}. The person continues from there."""
"""Template of the agent's prompt for a turn. The store keeps the exact text that each turn used."""


def turns_of(store: Store, slot: str) -> list[Trial]:
    """Return the agent's past turns on a slot, as trials, oldest first."""
    return [t for t in store.find(Trial, slot=slot) if t.outcome.cause is Cause.PERSON_CONTINUES]


def arm_of(experiment: Experiment, slot: Slot) -> Arm:
    """Return the arm of the experiment to which a slot belongs."""
    return next(arm for arm in experiment.arms if arm.name == slot.arm)


def waits_for_person(store: Store, experiment: Experiment, slot: Slot) -> bool:
    """Return whether it is a person's turn to work on an open slot."""
    worker = arm_of(experiment, slot).worker
    if worker is not Worker.ASSISTED:
        return worker is Worker.HUMAN
    return len(turns_of(store, slot.id)) > assignment_of(store, slot.id).asked


def prepare_turn(store: Store, slot: Slot, instance: Instance) -> AgentInput | None:
    """Build the input of the agent's turn from the person's files and the person's request. Returns None for the
    agent's first turn, or if the person has made no request.
    """
    assignment, turns = assignment_of(store, slot.id), turns_of(store, slot.id)
    if not turns or not assignment.asks:
        return None
    asked = store.blobs.read(assignment.asks[-1]).decode("utf-8")
    text = TURN_PROMPT.format(previous=PREVIOUS, asked=asked, output=instance.work.environment.paths.output)
    earlier = store.find(Submission, trial=turns[-1].id)[0]
    fed = Fed(submission=earlier.id, text=store.blobs.put(text.encode("utf-8")))
    return AgentInput(fed, text, store.folder(assignment.output or earlier.parts["output"].manifest))


def work_so_far(store: Store, slot: str) -> Manifest:
    """Return the files from which a person continues: the person's own files, replaced or extended by the files of the
    agent's last turn if that turn came later.
    """
    assignment, turns = assignment_of(store, slot), turns_of(store, slot)
    found = store.manifest(assignment.output) if assignment.output else Manifest()
    fresh = [t for t in turns if assignment.saved is None or t.ended > assignment.saved]
    for turn in fresh[-1:]:
        made = store.manifest(store.find(Submission, trial=turn.id)[0].parts["output"].manifest)
        both = {e.path: e for e in found.entries} | {e.path: e for e in made.entries}
        found = Manifest(entries=tuple(both[path] for path in sorted(both)))
    return found


def store_manifest(store: Store, manifest: Manifest) -> str:
    """Write a manifest to the store and return its digest."""
    return put_canonical(store.blobs, manifest.plain())
