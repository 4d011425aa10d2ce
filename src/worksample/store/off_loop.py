"""Warn of store calls on an event loop: they wait for disks and servers, and everything else on the loop with them."""

from __future__ import annotations

import asyncio
import warnings


class StoreCallOnLoop(ResourceWarning):
    """A store call on an event loop. Hidden unless you pass `-W always::worksample.store.off_loop.StoreCallOnLoop`."""


def warn_on_event_loop() -> None:
    """Warn if this thread runs an event loop."""
    if asyncio._get_running_loop() is not None:
        warnings.warn("a store call on an event loop: give it to asyncio.to_thread", StoreCallOnLoop, stacklevel=4)
