"""What every recorder can do. A recorder records one thing beside a trial and adds it to the submission.

Whoever opens what is recorded (a browser, endpoints, services) registers its recorder with the trial context. Closing
is one loop over the recorders.
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
    """Why a recorder could not record all of it."""

    cause: Cause
    reason: str


class Recorder:
    """Base of the recorders. Each method does nothing unless a recorder overrides it."""

    rank: ClassVar[int] = 100
    """Recorders are closed in this order; if several have a shortfall, the first decides how the trial ended."""

    async def stop(self) -> None:
        """End what is recorded, before any box is read."""

    async def capture(self) -> None:
        """Read boxes that are about to close. Recorders of different boxes do so at the same time."""

    @property
    def shortfall(self) -> Shortfall | None:
        """Why the record is incomplete through no fault of the agent. Asked after `capture`."""
        return None

    def parts(self, sink: Sink) -> Parts:
        """Return the parts of the submission, written to `sink`. Runs in a thread. Raises StoreError."""
        return {}

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Usage of models other than the agent's, by role."""
        return {}


class EventLedger(Protocol):
    """A list of what happened, kept in memory."""

    def part(self, sink: Sink) -> SubmissionPart:
        """Return the list as a part of a submission."""
        ...


class LedgerRecorder(Recorder):
    """A ledger that fills itself: connections through the box's endpoints, or the actions of a browser."""

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
