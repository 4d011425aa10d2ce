"""How many requests are worked on at once."""

from __future__ import annotations

import sys

import anyio.to_thread

SWITCH_SECONDS = 0.0005
"""After which a thread lets another go on. By default it is ten times as much, which the event loop would wait for
whenever a request is being worked on: answering and taking in would come to a halt under load."""
THREADS = 16
"""Python runs one of them at a time and the database takes one write at a time: more would wait inside, not outside."""
DISK_THREADS = 32
"""For answers handed in: they wait for the disk, and as many as wait share a sync of it (`people.together`)."""


def set_threads() -> None:
    """For this server's event loop."""
    sys.setswitchinterval(SWITCH_SECONDS)
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
