"""Run blocking work from a script, from a notebook, whose thread already has an event loop, and from async code.

The engine needs an event loop for itself. If the caller's thread has one, the work runs in another thread.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from worksample.experiments.run_interruption import Stop

T = TypeVar("T")


def call(work: Callable[[Stop], T]) -> T:
    """Do the work and wait for it. An interrupt asks the work to stop, and waits until it has."""
    stop = Stop()
    if not _has_loop():
        return work(stop)
    with ThreadPoolExecutor(1, thread_name_prefix="worksample") as pool:
        done = _begin(pool, work, stop)
        try:
            return done.result()
        except KeyboardInterrupt:
            stop.ask()
            return done.result()


async def call_async(work: Callable[[Stop], T]) -> T:
    """Do the work beside the caller's event loop. Cancelling it asks the work to stop, and waits until it has."""
    stop = Stop()
    with ThreadPoolExecutor(1, thread_name_prefix="worksample") as pool:
        done = asyncio.wrap_future(_begin(pool, work, stop))
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            stop.ask()
            await asyncio.wait([done])
            done.exception()  # the caller wanted no result of it
            raise


def _begin(pool: ThreadPoolExecutor, work: Callable[[Stop], T], stop: Stop) -> Future[T]:
    def run_hidden() -> T:
        with hide_notebook():
            return work(stop)

    return pool.submit(contextvars.copy_context().run, run_hidden)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_LOCK = threading.Lock()
_WORKING: list[list[tuple[Any, str, Any]]] = []
"""One entry per running work: the attributes that were replaced before the first one."""


@contextmanager
def hide_notebook() -> Iterator[None]:
    """Let IPython and rich see a notebook only in the main thread."""
    package: Any = sys.modules.get("IPython")
    if package is None:
        yield
        return
    with _LOCK:
        _WORKING.append(_WORKING[0] if _WORKING else _hide(package))
    try:
        yield
    finally:
        with _LOCK:
            replaced = _WORKING.pop()
            if not _WORKING:
                for place, name, before in replaced:
                    setattr(place, name, before)


def _hide(package: Any) -> list[tuple[Any, str, Any]]:
    import rich.console

    replaced = []
    for place, name, answer in ((package, "get_ipython", None), (rich.console, "_is_jupyter", False)):
        before = getattr(place, name)
        setattr(place, name, _elsewhere(before, answer))
        replaced.append((place, name, before))
    return replaced


def _elsewhere(asked: Callable[[], Any], answer: Any) -> Callable[[], Any]:
    """Return a function that calls `asked` in the main thread, and returns `answer` in all others."""
    return lambda: asked() if threading.current_thread() is threading.main_thread() else answer
