"""Closing a trial: what lies in the box becomes evidence, and one commit makes trial and submission known.

Objects come first, then one transaction: a kill at any moment leaves no trial, and the slot open, or a whole one.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from worksample.agents import logs_of
from worksample.agents.command import PROGRAM
from worksample.errors import Cause, StoreError, Superseded
from worksample.fault_injection import failpoint
from worksample.files import put_canonical
from worksample.models import plus, usage_of
from worksample.models.excused_waiting import waiting
from worksample.models.usage import AGENT, call_usage, is_own_call, spent
from worksample.records import (
    CaptureStatus,
    Ending,
    Manifest,
    Origin,
    Submission,
    SubmissionPart,
    Trial,
    TrialOutcome,
    Usage,
    Worker,
    now,
)
from worksample.sandboxes.capture import STEPS, Captured, capture_box
from worksample.sandboxes.services import export_state
from worksample.sandboxes.services.state_export import ExportedPart
from worksample.steady_loop import stalled_seconds
from worksample.workplace.colleagues.colleague_runner import ROLE
from worksample.workplace.live_check import add_live_result, run_live_check

from .outcome import after_capture, crashed, ended_by_error, handed_over, superseded
from .own_log import own_log
from .trajectory import TrajectoryWriter, write
from .trial_box import box_of
from .tries import TrialContext

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.solver import TaskState


STOPPED = 3.0
"""Seconds that requests under way go on where the operator stopped the run."""


async def close(try_: TrialContext, state: TaskState, outcome: TrialOutcome) -> None:
    """Take in what was left, and commit. Does nothing where the try_ is closed already or could not be.

    Must run where no cancellation reaches it. StoreError where the records cannot be kept: then nothing is committed.
    """
    if try_.trial is not None or try_.fatal is not None:
        return
    try:
        trial, submission = await _closed(try_, state, outcome)
    except StoreError as error:
        try_.fatal = error
        raise
    try_.trial = trial
    failpoint("close.committed")
    tell(try_, trial, submission)


def tell(try_: TrialContext, trial: Trial, submission: Submission | None) -> None:
    """Call `on_closed` in a context of its own, so that nothing it starts is billed to the trial's transcript."""
    contextvars.Context().run(try_.job.on_closed, trial, submission)
    try_.told = True


async def _closed(try_: TrialContext, state: TaskState, outcome: TrialOutcome) -> tuple[Trial, Submission | None]:
    """What was committed. Where closing itself fails, a trial with that and with what was spent, and no submission."""
    from inspect_ai.log import transcript

    try:
        return await _close(try_, state, outcome)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of closing: a crash of ours is recorded, never lost
        usage = usage_by_role(try_, list(transcript().events))
        trial = trial_of(try_, ended_by_error(error, ()), usage=usage, log=_log_path(try_))
        return await anyio.to_thread.run_sync(keep, try_, trial), None


async def _close(try_: TrialContext, state: TaskState, outcome: TrialOutcome) -> tuple[Trial, Submission]:
    from inspect_ai.log import transcript

    events = list(transcript().events)
    ended = now()
    lost = stalled_seconds(try_.started, ended)
    working = max(0.0, _working_seconds() - lost)
    if lost:
        try_.phases["stall"] = round(lost, 6)
    # What the limit or the end of the work cut off goes on meanwhile, so that what it took is known.
    settling = asyncio.ensure_future(try_.account.settle(STOPPED if outcome.ending is Ending.CANCELLED else None))
    if try_.job.arm(try_.slot).worker is Worker.ASSISTED:
        outcome = handed_over(outcome)
    failpoint("close.begin")
    if try_.attending is not None:
        await try_.attending.stop()
        if (fault := try_.attending.failure.error) is not None:
            silent = crashed(fault)
            outcome = after_capture(outcome, silent.cause, silent.reason)
    steps = await try_.steps.part() if try_.steps is not None else None
    captured, exported = await asyncio.gather(_captured(try_), _exported(try_))
    parts = dict(captured.parts)
    if steps is not None:
        parts[STEPS] = steps
    box, logs = box_of(), logs_of(try_.job.agent)
    if logs and box is not None:
        parts["agent_log"] = await own_log(box, try_.job.store.blobs, logs)
    if try_.steps is not None:
        outcome = after_capture(outcome, try_.steps.cause, try_.steps.reason)
    said = parts["root"].reason if "root" in parts else ""
    outcome = after_capture(outcome, captured.cause, parts["output"].reason or said)
    if exported is not None:
        parts["exports"] = exported.part
        outcome = after_capture(outcome, exported.cause, exported.part.reason)
    failpoint("close.captured")
    with try_.timed("settle"):
        await settling

    def finish() -> tuple[Trial, Submission]:
        with try_.timed("trajectory"):
            parts["trajectory"] = _trajectory(try_, state, outcome, events)
        failpoint("close.trajectory")
        if try_.connections is not None:
            parts["connections"] = try_.connections.part(try_.job.store.blobs)
        if try_.browsed is not None:
            parts["browser"] = try_.browsed.part(try_.job.store.blobs)
        if try_.attending is not None:
            parts["colleagues"] = try_.attending.part(try_.job.store.blobs)
        trial = _trial(try_, state, outcome, events, ended=ended, working_seconds=working)
        submission = _submission(try_, parts)
        failpoint("close.commit")
        return keep(try_, trial, submission), submission

    # One thread for all of it: to hand over takes longer than most of it while other trials run.
    return await anyio.to_thread.run_sync(finish)


def keep(try_: TrialContext, trial: Trial, submission: Submission | None = None) -> Trial:
    """Commit a closed trial as the one that holds its slot, else as one that was superseded; returns what was kept."""
    store, rest = try_.job.store, () if submission is None else (submission,)
    try:
        with store.fenced(try_.lease) if try_.lease is not None else nullcontext():
            store.commit(trial, *rest)
        return trial
    except Superseded:
        try_.lost = True
    if trial.outcome.cause is not Cause.SUPERSEDED:
        trial = trial.replaced(outcome=superseded(trial.outcome))
    store.commit(trial, *rest)
    return trial


async def _captured(try_: TrialContext) -> Captured:
    """The parts that the box holds; where they cannot be had, an absent output with the reason."""
    job = try_.job
    box = box_of()
    if box is None:
        return await anyio.to_thread.run_sync(_nothing, try_, Cause.SANDBOX_LOST, "there was no sandbox")
    captured = await capture_box(box, job.store.blobs, try_.instance, limits=job.config.capture)
    try_.phases.update({name: round(seconds, 6) for name, seconds in captured.seconds.items()})
    return captured


async def _exported(try_: TrialContext) -> ExportedPart | None:
    """The state of the task's services; None where none is taken."""
    names = try_.instance.capture.exports
    if try_.services is None or not names:
        return None
    with try_.timed("exports"):
        store, given = try_.job.store, try_.instance.work.environment
        found = None
        if try_.workplace is not None:
            found = await run_live_check(try_.services, try_.workplace, store.folder, given)
        exported = await export_state(try_.services, store.blobs, names, try_.job.config.capture)
        if found is None:
            return exported
        manifest = await anyio.to_thread.run_sync(store.manifest, exported.part.manifest)
        return replace(exported, part=add_live_result(exported.part, manifest, found, store.blobs))


def _nothing(try_: TrialContext, cause: Cause, reason: str) -> Captured:
    empty = put_canonical(try_.job.store.blobs, Manifest().plain())
    return Captured({"output": SubmissionPart(manifest=empty, status=CaptureStatus.ABSENT, reason=reason)}, cause)


def _trajectory(try_: TrialContext, state: TaskState, outcome: TrialOutcome, events: Sequence[Event]) -> SubmissionPart:
    job = try_.job
    writer = TrajectoryWriter(job.config.prices)
    writer.events(events)
    if not writer.steps:
        writer.messages(state.messages)
    elif state.messages and getattr(state.messages[-1], "model", None) == PROGRAM:
        writer.messages(state.messages[-1:])  # what a program printed that had called a model
    extra = {
        "trial": try_.id,
        "instance": try_.instance.id,
        "experiment": job.experiment.id,
        "outcome": outcome.plain(),
    }
    return write(writer, job.store.blobs, job.agent, extra, events, try_.account.lost)


def _trial(try_: TrialContext, state: TaskState, outcome: TrialOutcome, events: Sequence[Event], **rest: Any) -> Trial:
    from worksample.agents.shown_digest import SHOWN

    usage = usage_by_role(try_, events)
    if lost := waiting(events, rest["ended"]).lost:
        try_.phases["service"] = round(lost, 6)
    return trial_of(
        try_,
        outcome,
        usage=usage,
        steps=sum(call_usage(event, {}) is not None for event in events if is_own_call(event)),
        shown=state.store.get(SHOWN),
        log=_log_path(try_),
        **rest,
    )


def usage_by_role(try_: TrialContext, events: Sequence[Event]) -> dict[str, Usage]:
    """What all requests took: the answered ones of the transcript, and those whose answers reached nobody."""
    prices = try_.job.config.prices
    usage = usage_of(events, prices)
    if (lost := try_.account.close()).requests:
        usage[AGENT] = plus(usage.get(AGENT), lost)
    elif not any(event.event == "model" for event in events):
        usage = spent(usage, try_.job.agent.model, prices)
    if try_.attending is not None and try_.attending.usage is not None:
        usage[ROLE] = try_.attending.usage
    return usage


def trial_of(try_: TrialContext, outcome: TrialOutcome, **rest: Any) -> Trial:
    """The trial's record as of now."""
    job = try_.job
    return Trial(
        id=try_.id,
        slot=try_.slot.id,
        experiment=job.experiment.id,
        agent=job.agent.id,
        instance=try_.instance.id,
        work=try_.instance.work_digest,
        capture=try_.instance.capture_digest,
        try_number=try_.try_number,
        generation=try_.lease.generation if try_.lease is not None else 0,
        outcome=outcome,
        started=try_.started,
        limits=try_.limits,
        fed=try_.feeding.fed if try_.feeding else None,
        sandbox=job.config.sandbox,
        phases=dict(try_.phases),
        **{"ended": now(), "working_seconds": 0.0, **rest},
    )


def _submission(try_: TrialContext, parts: dict[str, SubmissionPart]) -> Submission:
    return Submission(
        id=try_.id,
        instance=try_.instance.id,
        work=try_.instance.work_digest,
        capture=try_.instance.capture_digest,
        origin=Origin.TRIAL,
        entrant=try_.job.agent.id,
        at=now(),
        trial=try_.id,
        experiment=try_.job.experiment.id,
        parts=parts,
    )


def _working_seconds() -> float:
    from inspect_ai.util import sample_limits

    return max(0.0, float(sample_limits().working.usage))


def _log_path(try_: TrialContext) -> str:
    """The log that this sample will be written to, relative to the store's `logs/`."""
    from urllib.parse import unquote, urlparse

    from inspect_ai.log._samples import sample_active

    active = sample_active()
    if active is None:
        return ""
    location = active.log_location
    # The engine keeps a relative folder relative; the store's logs are named from the store.
    path = Path(unquote(urlparse(location).path) if location.startswith("file:") else location).resolve()
    logs = try_.job.store.logs.resolve()
    return str(path.relative_to(logs) if path.is_relative_to(logs) else path)
