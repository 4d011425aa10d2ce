"""Closing of a trial: the content of the box is captured as evidence, and trial and submission are stored in one
commit.

Files are stored first, then the records in one transaction. If the process is stopped at any moment, the store has
either a complete trial, or no trial and an open slot.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from worksample.agents.command_harness import PROGRAM
from worksample.errors import Cause, StoreError, Superseded
from worksample.fault_injection import failpoint
from worksample.models import add_priced_usage, usage_of
from worksample.models.service_wait_time import measure_waiting
from worksample.models.usage import AGENT, call_usage, is_own_call, with_zero_cost
from worksample.records import (
    Ending,
    Submission,
    SubmissionPart,
    Trial,
    TrialOutcome,
    Usage,
    Worker,
    now,
)
from worksample.records.closed_trial import submission_of, trial_record
from worksample.stall_tolerant_loop import stalled_seconds

from .atif_trajectory import TrajectoryWriter, write_trajectory
from .recorder_base import stop_and_capture
from .trial_context import TrialContext
from .trial_outcome import outcome_after_capture, outcome_of_error, outcome_of_turn, superseded_outcome

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.solver import TaskState


SETTLE_SECONDS = 3.0
"""Maximum number of seconds to wait for model requests in progress after the operator stopped the run."""


async def close(context: TrialContext, state: TaskState, outcome: TrialOutcome) -> None:
    """Capture what the agent left, and commit the trial. Does nothing if the trial is already closed, or if storing it
    has failed before.

    Callers must shield this call from cancellation. Raises StoreError if the records cannot be stored; no record is
    then committed.
    """
    if context.trial is not None or context.fatal is not None:
        return
    try:
        trial, submission = await _close_or_record_crash(context, state, outcome)
    except StoreError as error:
        context.fatal = error
        raise
    context.trial = trial
    failpoint("close.committed")
    announce(context, trial, submission)


def announce(context: TrialContext, trial: Trial, submission: Submission | None) -> None:
    """Call `on_closed` in an empty context, so that no model usage of the callback counts towards the trial."""
    contextvars.Context().run(context.spec.job.on_closed, trial, submission)
    context.announced = True


async def _close_or_record_crash(
    context: TrialContext, state: TaskState, outcome: TrialOutcome
) -> tuple[Trial, Submission | None]:
    """Close the trial. If closing fails, commit a trial with this failure and with the usage, but without a
    submission.
    """
    from inspect_ai.log import transcript

    try:
        return await _close(context, state, outcome)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of closing: a crash of ours is recorded, never lost
        usage = usage_by_role(context, list(transcript().events))
        trial = build_trial(context, outcome_of_error(error, ()), usage=usage, log=_log_path(context))
        return await anyio.to_thread.run_sync(commit_trial, context, trial), None


async def _close(context: TrialContext, state: TaskState, outcome: TrialOutcome) -> tuple[Trial, Submission]:
    from inspect_ai.log import transcript

    events = list(transcript().events)
    ended = now()
    lost = stalled_seconds(context.started, ended)
    working = max(0.0, _working_seconds() - lost)
    if lost:
        context.phases["stall"] = round(lost, 6)
    # Requests that were cut off by the end of the work may finish meanwhile, so that their usage is known.
    settling = asyncio.ensure_future(
        context.account.settle(SETTLE_SECONDS if outcome.ending is Ending.CANCELLED else None)
    )
    if context.spec.job.arm(context.spec.slot).worker is Worker.ASSISTED:
        outcome = outcome_of_turn(outcome)
    failpoint("close.begin")
    await stop_and_capture(context.recorders)
    for recorder in context.recorders:
        if (shortfall := recorder.shortfall) is not None:
            outcome = outcome_after_capture(outcome, shortfall.cause, shortfall.reason)
    failpoint("close.captured")
    with context.measure("settle"):
        await settling

    def finish() -> tuple[Trial, Submission]:
        blobs = context.spec.job.store.blobs
        with context.measure("trajectory"):
            parts = {"trajectory": _trajectory(context, state, outcome, events)}
        failpoint("close.trajectory")
        for recorder in context.recorders:
            parts |= recorder.parts(blobs)
        trial = _trial(context, state, outcome, events, ended=ended, working_seconds=working)
        submission = submission_of(trial, parts, now())
        failpoint("close.commit")
        return commit_trial(context, trial, submission), submission

    # One thread for everything: while other trials run, a hand-over takes longer than most of the steps.
    return await anyio.to_thread.run_sync(finish)


def commit_trial(context: TrialContext, trial: Trial, submission: Submission | None = None) -> Trial:
    """Commit a closed trial and its submission under the slot's lease, and return the committed trial. If the lease was
    lost, the trial is committed as superseded.
    """
    store, rest = context.spec.job.store, () if submission is None else (submission,)
    try:
        with store.fence(context.spec.lease) if context.spec.lease is not None else nullcontext():
            store.commit(trial, *rest)
        return trial
    except Superseded:
        context.lost = True
    if trial.outcome.cause is not Cause.SUPERSEDED:
        trial = trial.replaced(outcome=superseded_outcome(trial.outcome))
    store.commit(trial, *rest)
    return trial


def _trajectory(
    context: TrialContext, state: TaskState, outcome: TrialOutcome, events: Sequence[Event]
) -> SubmissionPart:
    job = context.spec.job
    writer = TrajectoryWriter(job.config.prices)
    writer.add_events(events)
    if not writer.steps:
        writer.add_messages(state.messages)
    elif state.messages and getattr(state.messages[-1], "model", None) == PROGRAM:
        writer.add_messages(state.messages[-1:])  # the output of a program that called a model
    extra = {
        "trial": context.id,
        "instance": context.spec.instance.id,
        "experiment": job.experiment.id,
        "outcome": outcome.plain(),
    }
    return write_trajectory(writer, job.store.blobs, job.agent, extra, events, context.account.lost)


def _trial(
    context: TrialContext, state: TaskState, outcome: TrialOutcome, events: Sequence[Event], **rest: Any
) -> Trial:
    from worksample.agents.prompt_digest import SHOWN

    usage = usage_by_role(context, events)
    if lost := measure_waiting(events, rest["ended"]).lost:
        context.phases["service"] = round(lost, 6)
    return build_trial(
        context,
        outcome,
        usage=usage,
        steps=sum(call_usage(event, {}) is not None for event in events if is_own_call(event)),
        shown=state.store.get(SHOWN),
        log=_log_path(context),
        **rest,
    )


def usage_by_role(context: TrialContext, events: Sequence[Event]) -> dict[str, Usage]:
    """Return the usage of all model requests by role. Requests whose answers never arrived are included."""
    prices = context.spec.job.config.prices
    usage = usage_of(events, prices)
    if (lost := context.account.close()).requests:
        usage[AGENT] = add_priced_usage(usage.get(AGENT), lost)
    elif not any(event.event == "model" for event in events):
        usage = with_zero_cost(usage, context.spec.job.agent.model, prices)
    for recorder in context.recorders:
        usage |= recorder.usage
    return usage


def build_trial(context: TrialContext, outcome: TrialOutcome, **rest: Any) -> Trial:
    """Build the trial's record. rest: further fields of the record. Without them, the trial ends now and has no working
    time.
    """
    return trial_record(
        context.spec.slot,
        context.spec.instance,
        context.id,
        outcome,
        try_number=context.spec.try_number,
        generation=context.spec.lease.generation if context.spec.lease is not None else 0,
        started=context.started,
        limits=context.spec.limits,
        fed=context.spec.feeding.fed if context.spec.feeding else None,
        sandbox=context.spec.job.config.sandbox,
        phases=dict(context.phases),
        **{"ended": now(), "working_seconds": 0.0, **rest},
    )


def _working_seconds() -> float:
    from inspect_ai.util import sample_limits

    return max(0.0, float(sample_limits().working.usage))


def _log_path(context: TrialContext) -> str:
    """Return the path of the log that will contain this sample, relative to `logs/` in the store. Return "" outside a
    sample.
    """
    from urllib.parse import unquote, urlparse

    from inspect_ai.log._samples import sample_active

    active = sample_active()
    if active is None:
        return ""
    location = active.log_location
    # Inspect keeps a relative folder relative; log paths are relative to the store's `logs/`.
    path = Path(unquote(urlparse(location).path) if location.startswith("file:") else location).resolve()
    logs = context.spec.job.store.logs.resolve()
    return str(path.relative_to(logs) if path.is_relative_to(logs) else path)
