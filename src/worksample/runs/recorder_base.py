"""Base class of recorders. A recorder records one thing beside a trial and adds it to the submission.

Code that opens something to be recorded (a browser, endpoints, services) registers a recorder with the trial context.
Closing a trial is one loop over its recorders.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from worksample.errors import Cause
from worksample.records import SubmissionPart, Usage

if TYPE_CHECKING:
    from worksample.files import Sink

Parts = Mapping[str, SubmissionPart]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Reason why a recorder could not record everything."""

    cause: Cause
    reason: str


class Recorder:
    """Base of the recorders. Each method does nothing unless a recorder overrides it."""

    rank: ClassVar[int] = 100
    """Recorders are closed in ascending order. If several have a shortfall, the first decides how the trial ended."""

    async def stop(self) -> None:
        """End the recorded activity, before any box is read."""

    async def capture(self) -> None:
        """Read boxes that are about to close. All recorders do so at the same time."""

    @property
    def shortfall(self) -> Shortfall | None:
        """Why the record is incomplete through no fault of the agent; None if complete. Read it after `capture`."""
        return None

    def parts(self, sink: Sink) -> Parts:
        """Return the parts of the submission, written to `sink`. Runs in a thread. Raises StoreError."""
        return {}

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Usage of models other than the agent's, by role."""
        return {}


class EventLedger(Protocol):
    """List of events that is kept in memory."""

    def part(self, sink: Sink) -> SubmissionPart:
        """Return the list as a part of a submission."""
        ...


class LedgerRecorder(Recorder):
    """Recorder of a ledger that fills itself: connections through the box's endpoints, or actions in a browser."""

    def __init__(self, name: str, ledger: EventLedger) -> None:
        self._name, self._ledger = name, ledger

    def parts(self, sink: Sink) -> Parts:
        """Return the ledger under its name."""
        return {self._name: self._ledger.part(sink)}


async def stop_and_capture(recorders: Sequence[Recorder]) -> None:
    """Stop all recorders in order, then let them read their boxes at the same time. Raises StoreError."""
    for recorder in recorders:
        await recorder.stop()
    await asyncio.gather(*(recorder.capture() for recorder in recorders))
