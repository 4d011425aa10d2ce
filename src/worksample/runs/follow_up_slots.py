"""Slots that are added to a run while it goes on: the next attempts of chains whose verdicts are already known."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.records import Slot

if TYPE_CHECKING:
    from .slot_queue import SlotQueue


class FollowUpSlots:
    """Link between a run, which has free places, and the caller who knows which attempts follow. `changed` wakes the
    caller.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.over = False
        self.queue: SlotQueue | None = None
        """The run's queue while the run goes on."""

    @property
    def has_room(self) -> bool:
        """Whether a place of the run is free while other trials are in progress."""
        return self.queue is not None and self.queue.idle

    async def add(self, slots: Sequence[Slot]) -> None:
        """Add slots to the run. Slots that the run cannot take stay open for the next run."""
        if self.queue is not None:
            await self.queue.add(slots)

    def end(self) -> None:
        """Tell the caller that the run is over."""
        self.over, self.queue = True, None
        self.changed.set()
