"""Hand-in of a person's work: the content of the box becomes a trial and its submission, like an agent's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from worksample.box import Box
from worksample.errors import CaptureError
from worksample.models.usage import AGENT, add_priced_usage
from worksample.records import (
    AssignmentAct,
    AssignmentEvent,
    CaptureStatus,
    Entry,
    Manifest,
    SubmissionPart,
    Trial,
    TrialOutcome,
    Usage,
)
from worksample.records.closed_trial import submission_of, trial_id, trial_record
from worksample.results.assignments.assignment import SlotAssignment, account_of, assignment_events, event_after
from worksample.results.assignments.shared_slot_turns import arm_of, turns_of
from worksample.runs.atif_trajectory import TrajectoryWriter, write_trajectory
from worksample.runs.trial_limits import limits_of
from worksample.runs.trial_outcome import outcome_after_capture
from worksample.sandboxes.capture import capture_box
from worksample.store import Store, put_canonical

from .workstation_box import WorkstationTask

PERSON = "person"
"""Role in a trial's usage that holds the cost of the person's time."""
CAST = "session.cast"


@dataclass(frozen=True)
class HandInDetails:
    """Details of a hand-in. `rate`: US dollars per hour, None if unknown; `name`: the account's name."""

    task: WorkstationTask
    person: str
    name: str
    rate: float | None
    at: datetime
    outcome: TrialOutcome


async def hand_in(store: Store, box: Box, assignment: SlotAssignment, handing: HandInDetails, log: bytes) -> Trial:
    """Capture the output, probes included, and commit trial, submission and last event together.

    Raises CaptureError if the output cannot be captured, StoreError.
    """
    captured = await capture_box(box, store.blobs, handing.task.instance)
    outcome = outcome_after_capture(handing.outcome, captured.cause, captured.parts["output"].reason)
    if not outcome.finished:
        # Nothing was handed in: the person keeps the slot and the last recorded output.
        raise CaptureError(outcome.reason, cause=outcome.cause, next="hand in again")
    return await asyncio.to_thread(_commit, store, assignment, handing, dict(captured.parts), outcome, log)


def _commit(
    store: Store,
    assignment: SlotAssignment,
    of: HandInDetails,
    parts: dict[str, SubmissionPart],
    outcome: TrialOutcome,
    log: bytes,
) -> Trial:
    last = event_after(
        assignment,
        of.person,
        AssignmentAct.HANDED_IN,
        of.at,
        output=parts["output"].manifest,
        terminal=store.blobs.put(log) if log else None,
    )
    events = [*assignment_events(store, assignment.slot), last]
    trial = _trial(store, assignment, of, outcome)
    mine = _events_of_last_person(events)
    parts["trajectory"] = _trajectory(store, of, trial, mine)
    if any(event.terminal for event in mine):
        parts["terminal"] = _join_recordings(store, mine)
    store.commit(trial, submission_of(trial, parts, of.at, of.name), last)
    return trial


def _trial(store: Store, assignment: SlotAssignment, of: HandInDetails, outcome: TrialOutcome) -> Trial:
    slot, instance = of.task.slot, of.task.instance
    turns, number = turns_of(store, slot.id), store.tries(slot.id) + 1
    seconds = round(assignment.seconds_at(of.at), 3)
    cost = None if of.rate is None else of.rate * seconds / 3600
    usage = _sum_usage(turns) | {PERSON: Usage(cost=cost, priced=cost is not None)}
    arm = arm_of(of.task.experiment, slot)
    return trial_record(
        slot,
        instance,
        trial_id(slot.id, number),
        outcome,
        try_number=number,
        started=min([assignment.began or of.at, *(turn.started for turn in turns)]),
        ended=of.at,
        working_seconds=seconds + sum(turn.working_seconds for turn in turns),
        person_seconds=seconds,
        steps=usage[AGENT].calls if AGENT in usage else 0,
        usage=usage,
        limits=limits_of(instance, arm).replaced(time=of.task.seconds),
        sandbox=of.task.experiment.lock.sandbox,
    )


def _sum_usage(turns: Iterable[Trial]) -> dict[str, Usage]:
    """Add up the usage of the agent's turns, by role."""
    by_role: dict[str, Usage] = {}
    for turn in turns:
        for role, usage in turn.usage.items():
            by_role[role] = add_priced_usage(by_role.get(role), usage)
    return by_role


def _events_of_last_person(events: list[AssignmentEvent]) -> list[AssignmentEvent]:
    """Return the events since this person last took the slot."""
    mine = account_of(events[-1].person)
    start = max((n + 1 for n, event in enumerate(events) if account_of(event.person) != mine), default=0)
    return events[start:]


_SAYS = {
    AssignmentAct.TAKEN: "took the task",
    AssignmentAct.STARTED: "started the timer",
    AssignmentAct.WORKED: "at work",
    AssignmentAct.PAUSED: "paused",
    AssignmentAct.ASKED: "asked the agent to go on",
    AssignmentAct.LEFT: "left the task",
    AssignmentAct.HANDED_IN: "handed in",
    AssignmentAct.TAKEN_BACK: "lost the task: an admin took it back",
}


def _trajectory(store: Store, of: HandInDetails, trial: Trial, events: list[AssignmentEvent]) -> SubmissionPart:
    """Build a trajectory with the events as steps, and with the requests to the agent."""
    writer = TrajectoryWriter(prices={})
    for event in events:
        said = _SAYS[event.act]
        if event.text:
            said += f":\n{store.blobs.read(event.text).decode('utf-8', 'replace')}"
        step = {
            "step_id": len(writer.steps) + 1,
            "source": "user",
            "message": said,
            "timestamp": event.at.isoformat(),
            "llm_call_count": 0,
            "extra": {"act": event.act.value, "output": event.output, "note": event.note},
        }
        writer.steps.append(step)
    extra = {
        "trial": trial.id,
        "instance": trial.instance,
        "experiment": trial.experiment,
        "outcome": trial.outcome.plain(),
        "turns": [turn.id for turn in turns_of(store, trial.slot)],
    }
    return write_trajectory(writer, store.blobs, of.task.agent, extra)


def _join_recordings(store: Store, events: list[AssignmentEvent]) -> SubmissionPart:
    """Join the recordings of the terminal into one asciicast, with times since the first event."""
    import json

    lines: list[bytes] = []
    for event in events:
        if event.terminal:
            lines += store.blobs.read(event.terminal).split(b"\n")
    said = [json.loads(line) for line in lines]
    start = said[0][0]
    head = {"version": 2, "width": 80, "height": 24, "timestamp": int(start)}
    text = "\n".join(
        json.dumps(one) for one in (head, *([round(at - start, 3), kind, data] for at, kind, data in said))
    )
    data = (text + "\n").encode()
    manifest = Manifest(entries=(Entry(path=CAST, size=len(data), blob=store.blobs.put(data)),))
    digest = put_canonical(store.blobs, manifest.plain())
    return SubmissionPart(manifest=digest, status=CaptureStatus.COMPLETE, files=1, size=len(data))
