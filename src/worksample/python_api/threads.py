"""One body of work called from a script, from a notebook, whose thread has a loop already, and from async code.

The engine runs a loop of its own. Where the caller's thread has one, the work goes into a thread beside it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from worksample.experiments.interruption import Stop

from .kernel import unseen

T = TypeVar("T")


def call(work: Callable[[Stop], T]) -> T:
    """Do the work and wait for it. An interrupt of the caller's thread asks it to stop, and waits until it has."""
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
    """Do the work beside the caller's loop. Cancelling this asks it to stop, and waits until it has."""
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
    def worked() -> T:
        with unseen():
            return work(stop)

    return pool.submit(contextvars.copy_context().run, worked)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
