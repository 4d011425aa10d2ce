"""Responses of the work pages: work that a person may take, and the page of one slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from worksample.app.server.markdown import render
from worksample.app.workstations.schemas import (
    AssignmentView,
    DeliverableView,
    FolderEntry,
    FolderListing,
    HandInReceipt,
    State,
    Timer,
    TurnView,
    WorkListRow,
    WorkPage,
)
from worksample.app.workstations.workstation_actions import PersonAtWork, submission_of
from worksample.app.workstations.workstation_box import WorkstationTask
from worksample.people.access.evaluator_profile import person_of
from worksample.people.clock import moment
from worksample.records import Experiment, Manifest, Slot, Submission, Trial, Worker
from worksample.results.assignments.assignment import AssignmentConflict, SlotAssignment, account_of, assignment_of
from worksample.results.assignments.human_slots import open_work_of, pay_of
from worksample.results.assignments.shared_slot_turns import arm_of, turns_of, waits_for_person
from worksample.results.reattempts.previous_attempt import as_shown

if TYPE_CHECKING:
    from datetime import datetime

    from worksample.app.server.route_services import AppServices
    from worksample.people import Account

_SAID = 4000
"""Most characters of an agent's last message."""


def person_at_work(services: AppServices, account: Account, slot: str) -> PersonAtWork:
    """Return the person with the hourly rate of the profile, else the experiment's. Raises RecordMissing."""
    experiment = services.store.get(Experiment, services.store.get(Slot, slot).experiment)
    if arm_of(experiment, services.store.get(Slot, slot)).worker is Worker.AGENT:
        raise AssignmentConflict("an agent works on this task, not a person", next="take other work")
    own = services.people.accounts.profile(account).pay_rate
    return PersonAtWork(account.evaluator, account.name, own if own is not None else pay_of(experiment))


def work_rows(services: AppServices, account: Account) -> list[WorkListRow]:
    """List the work that this person has or may take, their own first."""
    now, rows = moment(services.people.clock()), []
    for experiment in services.store.find(Experiment):
        for place in open_work_of(services.store, experiment):
            assignment, mine = place.assignment, place.assignment.is_of(account.evaluator, now)
            if assignment.is_taken(now) and not mine:
                continue
            if not place.waits and not mine:
                continue
            rows.append(
                WorkListRow(
                    slot=place.slot.id,
                    title=place.instance.title,
                    category=place.instance.about.category,
                    worker=_worker(place.worker),
                    state=_state(assignment, mine=mine, waits=place.waits),
                    mine=mine,
                    hours=place.hours,
                    seconds=assignment.seconds_at(now) if mine else 0.0,
                    until=_to_microseconds(assignment.until) if mine else None,
                )
            )
    return sorted(rows, key=lambda row: (not row.mine, row.title, row.slot))


def _worker(worker: Worker) -> Literal["human", "assisted"]:
    return "assisted" if worker is Worker.ASSISTED else "human"


def _state(assignment: SlotAssignment, *, mine: bool, waits: bool) -> State:
    if assignment.closed:
        return "handed_in"
    if not waits:
        return "agent"
    if not mine:
        return "free"
    return "running" if assignment.running else "paused"


def work_page(services: AppServices, account: Account, slot: str) -> WorkPage:
    """Build the page of a slot that this person has. Raises AssignmentConflict."""
    store, who = services.store, person_at_work(services, account, slot)
    task = WorkstationTask.of(store, store.get(Slot, slot))
    assignment = assignment_of(store, slot)
    if account_of(assignment.person) != account_of(who.person):
        raise AssignmentConflict("this work is not assigned to you", next="take it first")
    arm = arm_of(task.experiment, task.slot)
    shown = as_shown(task.instance, arm, task.experiment.lock.protocol, None)
    work, paths = shown.work, shown.work.environment.paths
    timer = timer_of(services, account, slot)
    about = task.instance.about.hours
    return WorkPage(
        slot=slot,
        title=task.instance.title,
        worker=_worker(arm.worker),
        state=timer.state,
        brief_html=render(work.brief),
        rubric_html=render(work.shown_rubric),
        deliverables=tuple(
            DeliverableView(name=d.name, format=d.format, required=d.required, about=d.about) for d in work.deliverables
        ),
        inputs=folder_listing(store.manifest(work.inputs)).files,
        input=paths.input,
        output=paths.output,
        seconds=timer.seconds,
        limit=task.seconds,
        hours=about.middle if about else None,
        pay=who.rate,
        until=timer.until,
        turns=tuple(_agent_turn(services, turn) for turn in turns_of(store, slot)),
    )


def _agent_turn(services: AppServices, trial: Trial) -> TurnView:
    return TurnView(
        at=_to_microseconds(trial.ended) or 0, ended=trial.outcome.reason, said=_end_of_last_message(services, trial)
    )


def _end_of_last_message(services: AppServices, trial: Trial) -> str:
    """Return the end of the agent's last message, from its trajectory."""
    import json

    submission = services.store.find(Submission, trial=trial.id)[0]
    manifest = services.store.manifest(submission.parts["trajectory"].manifest)
    entry = manifest.find("trajectory.json")
    if entry is None or entry.blob is None:
        return ""
    steps = json.loads(services.store.blobs.read(entry.blob)).get("steps", [])
    said = [step["message"] for step in steps if step.get("source") == "agent" and isinstance(step["message"], str)]
    return next((text[-_SAID:] for text in reversed(said) if text.strip()), "")


def timer_of(services: AppServices, account: Account, slot: str) -> Timer:
    """Return the current timer."""
    now, store = moment(services.people.clock()), services.store
    assignment, found = assignment_of(store, slot), store.get(Slot, slot)
    waits = waits_for_person(store, store.get(Experiment, found.experiment), found)
    mine = assignment.is_of(account.evaluator, now)
    return Timer(
        state=_state(assignment, mine=mine, waits=waits),
        seconds=assignment.seconds_at(now),
        until=_to_microseconds(assignment.until),
    )


def folder_listing(manifest: Manifest) -> FolderListing:
    """List the entries of a manifest."""
    entries = ({"path": e.path, "kind": e.kind.value, "size": e.size} for e in manifest.entries)
    return FolderListing(files=tuple(FolderEntry.model_validate(entry) for entry in entries))


def hand_in_receipt(services: AppServices, trial: Trial) -> HandInReceipt:
    """Describe what was handed in."""
    part = submission_of(services.store, trial).parts["output"]
    return HandInReceipt(
        state="handed_in",
        files=part.files,
        size=part.size,
        seconds=trial.person_seconds or 0.0,
        status=part.status.value,
        reason=part.reason,
    )


def _to_microseconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp() * 1_000_000)


def assignment_views(services: AppServices, experiment: Experiment) -> tuple[AssignmentView, ...]:
    """List the assigned slots of an experiment, by task."""
    now = moment(services.people.clock())
    held = [p for p in open_work_of(services.store, experiment) if p.assignment.is_taken(now)]
    names = {a.id: a.name for a in services.people.accounts.all()} if held else {}
    rows = [
        AssignmentView(
            slot=place.slot.id,
            title=place.instance.title,
            name=names.get(person_of(place.assignment.person), ""),
            state="agent" if not place.waits else "running" if place.assignment.running else "paused",
            seconds=place.assignment.seconds_at(now),
            last=_to_microseconds(place.assignment.last) or 0,
            until=_to_microseconds(place.assignment.until),
        )
        for place in held
    ]
    return tuple(sorted(rows, key=lambda row: (row.title, row.slot)))
