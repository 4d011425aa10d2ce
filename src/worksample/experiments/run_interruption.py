"""Interruption of a run: Ctrl-C, SIGTERM or another thread ends the run cleanly."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run_listener import RunListener

INTERRUPTED = 130
"""Exit code of a process that was interrupted twice."""


class Stop:
    """Request from another thread to end a run. Pass this object to the run in its options.

    `ask` may be called from any thread, any number of times, and also before the run begins. The run ends cleanly.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callback: Callable[[], object] | None = None
        self._asked = False

    def ask(self) -> None:
        """Make the run close its running trials as cancelled and return."""
        with self._lock:
            callback, self._asked = None if self._asked else self._callback, True
        if callback is not None:
            callback()

    def listen(self, callback: Callable[[], object]) -> None:
        """Register the callback of a run. The callback is called once, when `ask` is called; immediately if `ask` was
        already called.
        """
        with self._lock:
            self._callback, asked = callback, self._asked
        if asked:
            callback()


class Interruption:
    """Handler of interruptions of a run. The first signal, or `Stop.ask`, cancels the run. A second signal ends the
    process.
    """

    def __init__(self, stop: Stop | None, watch: RunListener) -> None:
        self._stop, self._watch = stop, watch
        self.requested = False
        """True if the operator requested the end of the run. A library may swallow the cancellation, so the run checks
        this flag.
        """

    async def run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Await `work`. Return True if the operator interrupted it."""
        task = asyncio.create_task(work)
        self._listen(task)
        try:
            await task
        except asyncio.CancelledError:
            if not self.requested:
                raise
        return self.requested

    def _listen(self, task: asyncio.Task[None]) -> None:
        def cancel(again: str = "") -> None:
            self.requested = True
            self._watch.note(f"stopping: trials in flight are closed, finished work is kept{again}")
            task.cancel()

        def interrupt() -> None:
            if self.requested:
                # The second signal ends the process at once: whatever was committed is safe from a kill at any moment.
                self._watch.end()
                os._exit(INTERRUPTED)
            cancel(" (press Ctrl-C again to quit immediately)")

        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, interrupt)
        if self._stop is not None:
            self._stop.listen(lambda: loop.call_soon_threadsafe(cancel))
