"""Slots that are added to a running run: the next attempts of chains whose earlier attempts already have verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.records import Slot

if TYPE_CHECKING:
    from .slot_queue import SlotQueue


class FollowUpSlots:
    """A link between a run, which has free places, and its caller, who knows which attempts are next. The event
    `changed` tells the caller to look again.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.over = False
        self.queue: SlotQueue | None = None
        """The queue of the run; None before and after the run."""

    @property
    def has_room(self) -> bool:
        """True if the run can start another trial now, while other trials are in progress."""
        return self.queue is not None and self.queue.idle

    async def add(self, slots: Sequence[Slot]) -> None:
        """Add slots to the run. Slots that the run cannot accept stay open for the next run."""
        if self.queue is not None:
            await self.queue.add(slots)

    def end(self) -> None:
        """Mark the run as over and inform the caller."""
        self.over, self.queue = True, None
        self.changed.set()
