"""Warnings about store calls on an event loop: they block the whole loop while they wait for disks and servers."""

from __future__ import annotations

import asyncio
import warnings


class StoreCallOnLoop(ResourceWarning):
    """Warning about a store call on an event loop. Hidden unless you pass `-W
    always::worksample.store.event_loop_warning.StoreCallOnLoop`.
    """


def warn_on_event_loop() -> None:
    """Warn if this thread runs an event loop."""
    if asyncio._get_running_loop() is not None:
        warnings.warn("a store call on an event loop: give it to asyncio.to_thread", StoreCallOnLoop, stacklevel=4)
