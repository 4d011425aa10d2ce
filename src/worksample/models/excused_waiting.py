"""How long a trial waited for a model's service, told from its calls. The rule stands in docs/trials.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from worksample.steady_loop import stalled_seconds

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent

SHARE = 0.5
"""Of the time limit: whoever lost so much to tries without an answer had no fair trial."""
LEAST = 0.1
"""Of the time limit: what a request must have waited at least before it is taken for one that hangs."""
SLOWER = 3.0
"""A request hangs that waits so many times longer than the slowest that was answered in the same trial."""
SCRIPTED = "script/"
"""Models that replay a script: no service is behind them, and who sleeps is the agent."""
EXCUSED = "worksample_request_rejected"
"""Key of a call's metadata where what was asked made it fail: its service gave an answer, or was never asked."""
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
class Waiting:
    """Seconds. A request is one call of a model with all its tries and the pauses between them."""

    lost: float = 0.0
    """In tries that had no answer, with the pauses after them."""
    last: float = 0.0
    """Of these in the request that had no answer in the end."""
    slowest: float = 0.0
    """The longest try that was answered."""
    failed: bool = False
    """Whether a try of the request without an answer had failed by itself."""

    def is_services(self, limit: float) -> bool:
        """Whether a time limit of so many seconds passed by fault of the service, and not of a slow agent.

        Of a limit without seconds no share can be told: there only a failure speaks against the service.
        """
        if limit <= 0:
            return self.failed
        hangs = self.last >= LEAST * limit and self.last > SLOWER * self.slowest
        return self.failed or hangs or self.lost >= SHARE * limit


def waiting(events: Sequence[Event], end: datetime) -> Waiting:
    """How long the calls in a transcript waited until `end`, when the work was over."""
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
    return Waiting(lost, last, slowest, bool(failed))


def is_cut_short(call: ModelEvent) -> bool:
    """Whether a call was ended from our side, and not by its service."""
    error = call.error
    return isinstance(error, str) and any(error == mark or error.endswith(mark) for mark in CUT_SHORT)


def excuse(call: ModelEvent | None) -> None:
    """Note at a call that failed that its service is not to blame."""
    if call is not None:
        call.metadata = {**(call.metadata or {}), EXCUSED: True}


def is_excused(call: ModelEvent) -> bool:
    """Whether a call failed by what was asked, and not by its service."""
    return bool(call.metadata and call.metadata.get(EXCUSED))


def _seconds(begin: datetime, end: datetime) -> float:
    """Between two moments, without what the platform itself stood still meanwhile."""
    return max(0.0, (end - begin).total_seconds() - stalled_seconds(begin, end))
