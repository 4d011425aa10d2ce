"""Closing a trial: what lies in the box becomes evidence, and one commit makes trial and submission known.

Objects come first, then one transaction: a kill at any moment leaves no trial, and the slot open, or a whole one.
"""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from worksample.errors import POLICY, Cause, StoreError
from worksample.evidence import Captured, take
from worksample.faults import reach
from worksample.models import usage_of
from worksample.models.usage import AGENT
from worksample.records import CaptureStatus, Manifest, Origin, Outcome, Part, Submission, Trial, canonical, now

from .attempt import Attempt
from .outcome import ended_by_error, failed
from .place import box_of
from .trajectory import Writer, write

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.solver import TaskState


async def close(attempt: Attempt, state: TaskState, outcome: Outcome) -> None:
    """Take in what was left, and commit. Does nothing where the attempt is closed already or could not be.

    Must run where no cancellation reaches it. StoreError where the records cannot be kept: then nothing is committed.
    """
    if attempt.trial is not None or attempt.fatal is not None:
        return
    try:
        trial, submission = await _closed(attempt, state, outcome)
    except StoreError as error:
        attempt.fatal = error
        raise
    attempt.trial = trial
    reach("close.committed")
    tell(attempt, trial, submission)


def tell(attempt: Attempt, trial: Trial, submission: Submission | None) -> None:
    """Call `on_closed` in a context of its own, so that nothing it starts is billed to the trial's transcript."""
    contextvars.Context().run(attempt.job.on_closed, trial, submission)
    attempt.told = True


async def _closed(attempt: Attempt, state: TaskState, outcome: Outcome) -> tuple[Trial, Submission | None]:
    """What was committed. Where closing itself fails, a trial with just that, and no submission."""
    try:
        return await _close(attempt, state, outcome)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of closing: a crash of ours is recorded, never lost
        trial = trial_of(attempt, ended_by_error(error, ()), log=_log_path(attempt))
        await anyio.to_thread.run_sync(attempt.job.store.commit, trial)
        return trial, None


async def _close(attempt: Attempt, state: TaskState, outcome: Outcome) -> tuple[Trial, Submission]:
    from inspect_ai.log import transcript

    events = list(transcript().events)
    ended, working = now(), _working_seconds()
    reach("close.begin")
    captured = await _captured(attempt)
    parts = dict(captured.parts)
    if captured.cause is not None and outcome.finished and not POLICY[captured.cause].graded:
        outcome = failed(captured.cause, parts["output"].reason)
    reach("close.captured")
    with attempt.timed("trajectory"):
        parts["trajectory"] = await anyio.to_thread.run_sync(_trajectory, attempt, state, outcome, events)
    reach("close.trajectory")
    trial = _trial(attempt, state, outcome, events).replaced(ended=ended, working_seconds=working)
    submission = _submission(attempt, parts)
    reach("close.commit")
    await anyio.to_thread.run_sync(attempt.job.store.commit, trial, submission)
    return trial, submission


async def _captured(attempt: Attempt) -> Captured:
    """The parts that the box holds; where they cannot be had, an absent output with the reason."""
    job = attempt.job
    box = box_of()
    if box is None:
        return _nothing(attempt, Cause.SANDBOX_LOST, "there was no sandbox")
    with anyio.move_on_after(job.config.close) as scope:
        captured = await take(box, job.store.blobs, attempt.instance, limits=job.config.capture)
        attempt.phases.update({name: round(seconds, 6) for name, seconds in captured.seconds.items()})
    if scope.cancelled_caught:
        reason = f"taking in the deliverables took more than {job.config.close:g} seconds"
        return _nothing(attempt, Cause.CAPTURE_FAILED, reason)
    return captured


def _nothing(attempt: Attempt, cause: Cause, reason: str) -> Captured:
    empty = attempt.job.store.blobs.put(canonical(Manifest().plain()))
    return Captured({"output": Part(manifest=empty, status=CaptureStatus.ABSENT, reason=reason)}, cause)


def _trajectory(attempt: Attempt, state: TaskState, outcome: Outcome, events: Sequence[Event]) -> Part:
    job = attempt.job
    writer = Writer(job.config.prices)
    writer.events(events)
    if not writer.steps:
        writer.messages(state.messages)
    extra = {
        "trial": attempt.id,
        "instance": attempt.instance.id,
        "experiment": job.experiment.id,
        "outcome": outcome.plain(),
    }
    return write(writer, job.store.blobs, job.agent, extra, events)


def _trial(attempt: Attempt, state: TaskState, outcome: Outcome, events: Sequence[Event]) -> Trial:
    from worksample.agents.shown import SHOWN

    usage = usage_of(events, attempt.job.config.prices)
    return trial_of(
        attempt,
        outcome,
        usage=usage,
        steps=usage[AGENT].calls if AGENT in usage else 0,
        shown=state.store.get(SHOWN),
        log=_log_path(attempt),
    )


def trial_of(attempt: Attempt, outcome: Outcome, **rest: Any) -> Trial:
    """The trial's record as of now."""
    job = attempt.job
    return Trial(
        id=attempt.id,
        slot=attempt.slot.id,
        experiment=job.experiment.id,
        agent=job.agent.id,
        instance=attempt.instance.id,
        work=attempt.instance.work_digest,
        capture=attempt.instance.capture_digest,
        try_number=attempt.try_number,
        outcome=outcome,
        started=attempt.started,
        limits=attempt.limits,
        sandbox=job.config.sandbox,
        phases=dict(attempt.phases),
        **{"ended": now(), "working_seconds": 0.0, **rest},
    )


def _submission(attempt: Attempt, parts: dict[str, Part]) -> Submission:
    return Submission(
        id=attempt.id,
        instance=attempt.instance.id,
        work=attempt.instance.work_digest,
        capture=attempt.instance.capture_digest,
        origin=Origin.TRIAL,
        entrant=attempt.job.agent.id,
        at=now(),
        trial=attempt.id,
        experiment=attempt.job.experiment.id,
        parts=parts,
    )


def _working_seconds() -> float:
    from inspect_ai.util import sample_limits

    return max(0.0, float(sample_limits().working.usage))


def _log_path(attempt: Attempt) -> str:
    """The log that this sample will be written to, relative to the store's `logs/`."""
    from urllib.parse import unquote, urlparse

    from inspect_ai.log._samples import sample_active

    active = sample_active()
    if active is None:
        return ""
    location = active.log_location
    # The engine keeps a relative folder relative; the store's logs are named from the store.
    path = Path(unquote(urlparse(location).path) if location.startswith("file:") else location).resolve()
    logs = attempt.job.store.logs.resolve()
    return str(path.relative_to(logs) if path.is_relative_to(logs) else path)
