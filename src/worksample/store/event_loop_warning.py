"""Warnings about store calls in a thread that runs an event loop. A call of this kind blocks the loop while it waits
for disks and servers.
"""

from __future__ import annotations

import asyncio
import warnings


class StoreCallOnLoop(ResourceWarning):
    """Warning about a store call in a thread that runs an event loop. Hidden by default. The option `-W
    always::worksample.store.event_loop_warning.StoreCallOnLoop` of Python shows it.
    """


def warn_on_event_loop() -> None:
    """Warn if this thread runs an event loop."""
    if asyncio._get_running_loop() is not None:
        warnings.warn("a store call on an event loop: give it to asyncio.to_thread", StoreCallOnLoop, stacklevel=4)
