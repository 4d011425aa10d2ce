"""Measurement of the time that a trial waited for a model's service, from the trial's model calls
(docs/explanation/trials-and-blame.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from worksample.stall_tolerant_loop import stalled_seconds

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent

SHARE = 0.5
"""Share of a trial's time limit. If unanswered tries took more than this share, the service is at fault, because the
trial was not fair to the agent.
"""
LEAST = 0.1
"""Minimum wait for an unanswered request before the service counts as hanging, as a share of the trial's time limit."""
SLOWER = 3.0
"""Minimum wait for an unanswered request before the service counts as hanging, as a multiple of the trial's slowest
answered request.
"""
SCRIPTED = "script/"
"""Prefix of the names of models that replay a script. They have no service, so the agent is responsible for any
waiting.
"""
EXCUSED = "worksample_request_rejected"
"""Key in a call's metadata that marks a call as failed because of its request. The service answered, or was never
called.
"""
CUT_SHORT = frozenset(
    {
        "RuntimeError('model call cancelled')",
        "model call cancelled",
        "Cancelled by operator",
        "Cancelled by limit",
        "Cancelled by system",
    }
)


@dataclass(frozen=True, slots=True)
class ServiceWait:
    """Seconds that a trial waited for a model's service. A request is one model call with all its tries and the pauses
    between the tries.
    """

    lost: float = 0.0
    """Seconds spent in unanswered tries and in the pauses after them."""
    last: float = 0.0
    """The part of `lost`, in seconds, that belongs to the last request, if that request was never answered."""
    slowest: float = 0.0
    """Seconds of the slowest try that was answered."""
    failed: bool = False
    """True if a try of the unanswered request failed, and was not only cut off by the platform."""

    def is_services_fault(self, limit: float) -> bool:
        """Return whether the service, and not a slow agent, is the reason why the time limit of `limit` seconds was
        reached.

        With a `limit` of 0 (no limit in seconds), the service is at fault only if a try failed.
        """
        if limit <= 0:
            return self.failed
        hangs = self.last >= LEAST * limit and self.last > SLOWER * self.slowest
        return self.failed or hangs or self.lost >= SHARE * limit


def measure_waiting(events: Sequence[Event], end: datetime) -> ServiceWait:
    """Measure how long the model calls in a transcript waited for their service. `end` is the time at which the agent's
    work ended.
    """
    from inspect_ai.event import ModelEvent

    calls = [e for e in events if isinstance(e, ModelEvent) and not e.model.startswith(SCRIPTED)]
    open_since: dict[tuple[str, str | None], datetime] = {}
    failed: set[tuple[str, str | None]] = set()
    lost = slowest = 0.0
    for place, call in enumerate(calls):
        key = (call.model, call.role)
        unanswered = call.pending or (call.error is not None and not is_excused(call))
        if not unanswered:
            lost += _seconds(open_since.pop(key, call.timestamp), call.timestamp)
            slowest = max(slowest, _seconds(call.timestamp, call.completed or call.timestamp))
            failed.discard(key)
        elif not (call.pending or is_cut_short(call)):
            open_since.setdefault(key, call.timestamp)
            failed.add(key)
        elif not any((c.model, c.role) == key for c in calls[place + 1 :]):
            open_since.setdefault(key, call.timestamp)
    last = max((_seconds(since, end) for since in open_since.values()), default=0.0)
    lost += sum(_seconds(since, end) for since in open_since.values())
    return ServiceWait(lost, last, slowest, bool(failed))


def is_cut_short(call: ModelEvent) -> bool:
    """Return whether the platform, and not the service, stopped a call."""
    error = call.error
    return isinstance(error, str) and any(error == mark or error.endswith(mark) for mark in CUT_SHORT)


def excuse(call: ModelEvent | None) -> None:
    """Mark a failed call as failed because of its request, so that its service is not blamed."""
    if call is not None:
        call.metadata = {**(call.metadata or {}), EXCUSED: True}


def is_excused(call: ModelEvent) -> bool:
    """Return whether a call is marked as failed because of its request, and not because of its service."""
    return bool(call.metadata and call.metadata.get(EXCUSED))


def _seconds(begin: datetime, end: datetime) -> float:
    """Return the seconds between two times, without the time during which the platform itself was stalled."""
    return max(0.0, (end - begin).total_seconds() - stalled_seconds(begin, end))
