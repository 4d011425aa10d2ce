"""Outcomes of trials. The platform derives an outcome once, from the exception or the limit that ended the trial."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from worksample.errors import POLICY, Cause, WorksampleError
from worksample.models import failure_of
from worksample.models.request_account import ModelAccount
from worksample.models.service_wait_time import measure_waiting
from worksample.records import Ending, TrialOutcome, now

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.util import LimitExceededError

DONE = TrialOutcome(ending=Ending.DONE)
LONGEST = 1000
_LIMITS = {
    "time": Cause.LIMIT_TIME,
    "working": Cause.LIMIT_TIME,
    "cost": Cause.LIMIT_COST,
    "token": Cause.LIMIT_TOKENS,
    "turn": Cause.LIMIT_TURNS,
}


def outcome_of_limit(
    error: LimitExceededError, events: Sequence[Event], end: datetime | None = None, account: ModelAccount | None = None
) -> TrialOutcome:
    """Return the outcome of a trial that reached a limit.

    The model's service is to blame in two cases: the agent spent the time waiting for the service, or the budget was
    exceeded only by requests that the service never answered but may have charged for.
    """
    cause = _LIMITS.get(error.type, Cause.LIMIT_OTHER)
    if account is not None and cause in (Cause.LIMIT_COST, Cause.LIMIT_TOKENS) and error.limit is not None:
        charged = account.charged if cause is Cause.LIMIT_COST else account.charged_tokens
        if charged and error.value - charged < error.limit:
            said = "requests that the service never answered may have used up the rest of the budget"
            return failure_outcome(Cause.MODEL_ERROR, f"{said}: {error.message}")
    if cause is Cause.LIMIT_TIME:
        waited, limit = measure_waiting(events, end or now()), error.limit or 0.0
        if waited.is_services_fault(limit):
            failure = failure_of(None, events)
            said = failure.reason if failure is not None else "no answer came"
            share = f" of {_span(limit)}" if limit else ""
            return failure_outcome(
                Cause.MODEL_ERROR, f"waited {_span(waited.lost)}{share} for the model's service: {said}"
            )
    return TrialOutcome(ending=Ending.LIMIT, cause=cause, reason=_short(error.message))


def _span(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"


def outcome_of_error(error: BaseException, events: Sequence[Event]) -> TrialOutcome:
    """Return the outcome of a trial in which `error` was raised. The cause is that of a typed error, a failure of the
    model's service, or a crash of the platform.
    """
    error = first_leaf(error)
    typed = next((e for e in _chain(error) if isinstance(e, WorksampleError) and e.cause is not None), None)
    if typed is not None and typed.cause is not None:
        ending = Ending.LIMIT if typed.cause.startswith("limit.") else Ending.FAILED
        return TrialOutcome(ending=ending, cause=typed.cause, reason=_short(str(typed)))
    failure = failure_of(error, events)
    if failure is not None:
        return TrialOutcome(ending=Ending.FAILED, cause=failure.cause, reason=_short(failure.reason))
    return crash_outcome(error)


def crash_outcome(error: BaseException) -> TrialOutcome:
    """Return the outcome of a crash of the platform, with the error and its line in the platform's code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = next((f for f in reversed(frames) if "worksample" in f.filename), frames[-1] if frames else None)
    at = f" at {ours.filename.rsplit('worksample/', 1)[-1]}:{ours.lineno}" if ours else ""
    return TrialOutcome(
        ending=Ending.FAILED, cause=Cause.PLATFORM_CRASH, reason=_short(f"{type(error).__name__}: {error}{at}")
    )


def cancelled_outcome(reason: str = "stopped by the operator") -> TrialOutcome:
    """Return the outcome of a trial that the operator stopped."""
    return TrialOutcome(ending=Ending.CANCELLED, cause=Cause.CANCELLED, reason=reason)


def superseded_outcome(before: TrialOutcome | None = None) -> TrialOutcome:
    """Return the outcome of a trial whose slot another process has taken over. before: the outcome that the trial would
    have had.
    """
    said = "another run took the slot over while this one stood still"
    if before is not None:
        how = "the agent was done" if before.cause is None else POLICY[before.cause].description
        said += f"; before the trial could be stored: {how}"
    return failure_outcome(Cause.SUPERSEDED, said)


def failure_outcome(cause: Cause, reason: str) -> TrialOutcome:
    """Return the outcome of a failure with a known cause."""
    return TrialOutcome(ending=Ending.FAILED, cause=cause, reason=_short(reason))


def outcome_after_capture(outcome: TrialOutcome, cause: Cause | None, reason: str) -> TrialOutcome:
    """Return the final outcome, after the output was captured. If the capture failed because of the platform, this
    failure replaces an outcome that would count. cause: the cause of the failed capture; None if it succeeded.
    """
    counts = outcome.finished or outcome.cause is Cause.PERSON_CONTINUES
    if cause is None or not counts or POLICY[cause].graded:
        return outcome
    return failure_outcome(cause, reason)


def outcome_of_turn(outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome of an agent's turn in an assisted slot. A person continues the work, so the slot stays open.
    Failures of the platform are returned unchanged.
    """
    if not outcome.finished:
        return outcome
    said = "the agent was done" if outcome.cause is None else f"{POLICY[outcome.cause].description}: {outcome.reason}"
    return TrialOutcome(ending=Ending.CANCELLED, cause=Cause.PERSON_CONTINUES, reason=_short(said))


def first_leaf(error: BaseException) -> BaseException:
    """Return the first exception that is not a group, at any depth of nested exception groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _chain(error: BaseException | None) -> list[BaseException]:
    """Return the exception, followed by the exceptions that caused it (`raise ... from`)."""
    out: list[BaseException] = []
    while error is not None and error not in out:
        out.append(error)
        error = error.__cause__
    return out


def _short(text: str) -> str:
    """Shorten a text and replace characters that databases or terminals reject. Agents can influence the text of
    reasons.
    """
    text = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text[: LONGEST + 1])
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
