"""Threads that do short jobs for the event loop.

A `ThreadPoolExecutor` takes as long to hand a job over as most of an evaluator's requests take to be answered: it looks
for idle threads under a lock for which these contend.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

R = TypeVar("R")


class Hands(Generic[R]):
    """`count` threads, which end with the process."""

    def __init__(self, count: int, name: str) -> None:
        self._jobs: SimpleQueue[_Job[R]] = SimpleQueue()
        for number in range(count):
            threading.Thread(target=self._work, name=f"{name} {number}", daemon=True).start()

    async def do(self, work: Callable[[], R]) -> R:
        """What `work` returns or raises. It is done although nobody waits for it any more."""
        job = _Job(work, asyncio.get_running_loop())
        self._jobs.put(job)
        return await job.future

    def _work(self) -> None:
        while True:
            self._jobs.get().run()


class _Job(Generic[R]):
    def __init__(self, work: Callable[[], R], loop: asyncio.AbstractEventLoop) -> None:
        self._work, self._loop = work, loop
        self.future: asyncio.Future[R] = loop.create_future()

    def run(self) -> None:
        try:
            done = self._work()
        except BaseException as e:  # noqa: BLE001 - raised where the job came from, whatever it is
            self._tell(self._fail, e)
        else:
            self._tell(self._succeed, done)

    def _tell(self, how: Callable[..., None], what: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(how, what)

    def _succeed(self, done: R) -> None:
        if not self.future.done():
            self.future.set_result(done)

    def _fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)
