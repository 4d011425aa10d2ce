"""Store calls wait for disks and servers: on an event loop all else would wait with them."""

from __future__ import annotations

import asyncio
import warnings


class OnLoop(ResourceWarning):
    """A store call on an event loop. Not shown unless asked for: `-W always::worksample.store.off_loop.OnLoop`."""


def off_loop() -> None:
    """Warn where this thread runs an event loop."""
    if asyncio._get_running_loop() is not None:
        warnings.warn("a store call on an event loop: give it to asyncio.to_thread", OnLoop, stacklevel=4)
