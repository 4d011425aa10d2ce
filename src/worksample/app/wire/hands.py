"""Threads that do short jobs for the event loop.

A `ThreadPoolExecutor` takes as long to hand a job over as most of an evaluator's requests take to be answered: it looks
for idle threads under a lock for which these contend.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

R = TypeVar("R")
MOST = 64
"""Jobs at once."""


class Hands(Generic[R]):
    """`count` threads, which end with the process.

    `within`: what a thread enters for all jobs that wait by then, such as a transaction; they are told what became of
    them once it is left, and where that fails, it is what became of each. Without it jobs are done one by one.
    """

    def __init__(self, count: int, name: str, within: Callable[[], AbstractContextManager[None]] | None = None) -> None:
        self._jobs: SimpleQueue[_Job[R]] = SimpleQueue()
        self._within = within
        for number in range(count):
            threading.Thread(target=self._work, name=f"{name} {number}", daemon=True).start()

    async def do(self, work: Callable[[], R]) -> R:
        """What `work` returns or raises. It is done although nobody waits for it any more."""
        job = _Job(work, asyncio.get_running_loop())
        self._jobs.put(job)
        return await job.future

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if self._within is None:
                job.run()
                job.tell()
            else:
                self._together([job, *self._waiting()], self._within)

    def _waiting(self) -> list[_Job[R]]:
        jobs: list[_Job[R]] = []
        with suppress(Empty):
            while len(jobs) < MOST - 1:
                jobs.append(self._jobs.get_nowait())
        return jobs

    @staticmethod
    def _together(jobs: list[_Job[R]], within: Callable[[], AbstractContextManager[None]]) -> None:
        try:
            with within():
                for job in jobs:
                    job.run()
        except BaseException as e:  # noqa: BLE001 - raised where each job came from, whatever it is
            for job in jobs:
                job.outcome = e
        for job in jobs:
            job.tell()


class _Job(Generic[R]):
    def __init__(self, work: Callable[[], R], loop: asyncio.AbstractEventLoop) -> None:
        self._work, self._loop = work, loop
        self.future: asyncio.Future[R] = loop.create_future()
        self.outcome: tuple[R] | BaseException | None = None

    def run(self) -> None:
        try:
            self.outcome = (self._work(),)
        except BaseException as e:  # noqa: BLE001 - raised where the job came from, whatever it is
            self.outcome = e

    def tell(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        if self.future.done():
            return
        if isinstance(self.outcome, tuple):
            self.future.set_result(self.outcome[0])
        elif self.outcome is not None:
            self.future.set_exception(self.outcome)
