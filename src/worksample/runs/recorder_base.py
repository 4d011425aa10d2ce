"""The base class of recorders. A recorder collects one kind of evidence during a trial and adds it to the submission.

Code that opens a source of evidence (a browser, endpoints, services) registers a recorder with the trial context. When
the trial is closed, all recorders are called in a loop.
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
    """The cause and reason why a recorder could not record everything."""

    cause: Cause
    reason: str


class Recorder:
    """Base class of recorders. The methods of this class do nothing; subclasses override those that they need."""

    rank: ClassVar[int] = 100
    """Position of the recorder when a trial is closed, in ascending order. If several recorders have a shortfall, the
    first of them decides the outcome of the trial.
    """

    async def stop(self) -> None:
        """Stop the recorded activity. Called before any box is read."""

    async def capture(self) -> None:
        """Read the boxes that are about to be closed. All recorders do this at the same time."""

    @property
    def shortfall(self) -> Shortfall | None:
        """Why the record is incomplete although the agent is not to blame; None if the record is complete. Valid after
        `capture`.
        """
        return None

    def parts(self, sink: Sink) -> Parts:
        """Write the evidence to `sink` and return it as parts of the submission. Called in a thread. Raises StoreError
        if writing fails.
        """
        return {}

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Usage of models other than the agent's model, by role."""
        return {}


class EventLedger(Protocol):
    """A list of events that is held in memory until the trial is closed."""

    def part(self, sink: Sink) -> SubmissionPart:
        """Write the events to `sink` and return them as a part of a submission."""
        ...


class LedgerRecorder(Recorder):
    """Recorder of a list of events that other code fills, such as the connections of a box or the actions in a
    browser.
    """

    def __init__(self, name: str, ledger: EventLedger) -> None:
        self._name, self._ledger = name, ledger

    def parts(self, sink: Sink) -> Parts:
        """Write the events to `sink` and return them as a part of the submission, by name."""
        return {self._name: self._ledger.part(sink)}


async def stop_and_capture(recorders: Sequence[Recorder]) -> None:
    """Stop all recorders in order, then let them read their boxes at the same time. Raises StoreError if evidence
    cannot be stored.
    """
    for recorder in recorders:
        await recorder.stop()
    await asyncio.gather(*(recorder.capture() for recorder in recorders))
