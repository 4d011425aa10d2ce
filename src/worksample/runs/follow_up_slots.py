"""Slots that come while a run goes on: the next attempts of chains whose verdicts stand before others' ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.records import Slot

if TYPE_CHECKING:
    from .slot_queue import SlotQueue


class FollowUpSlots:
    """Between a run, which has places, and whoever knows what comes next. `changed` wakes the latter."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.over = False
        self.queue: SlotQueue | None = None
        """Those of the run, while it goes on."""

    @property
    def has_room(self) -> bool:
        """Whether a place stands free while others are in work."""
        return self.queue is not None and self.queue.idle

    async def add(self, slots: Sequence[Slot]) -> None:
        """Let the run take these, as far as it can; what it cannot stays open for the next one."""
        if self.queue is not None:
            await self.queue.add(slots)

    def end(self) -> None:
        """The run is over."""
        self.over, self.queue = True, None
        self.changed.set()
