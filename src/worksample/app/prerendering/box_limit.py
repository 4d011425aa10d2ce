"""A limit on the number of boxes that run at once, with priority for requests that somebody waits for."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import AbstractAsyncContextManager
from types import TracebackType


class BoxGate:
    """A semaphore with two priorities: `places` for background work; urgent work goes first and has one place more."""

    def __init__(self, places: int) -> None:
        self._places, self._used = max(1, places), 0
        self._waiting: dict[bool, deque[asyncio.Future[None]]] = {True: deque(), False: deque()}
        self.urgent: AbstractAsyncContextManager[None] = _Turn(self, urgent=True)
        self.patient: AbstractAsyncContextManager[None] = _Turn(self, urgent=False)

    @property
    def used(self) -> int:
        return self._used

    async def enter(self, urgent: bool) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting[urgent].append(mine)
        self._wake()
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():
                # The place was granted while the wait was being cancelled.
                self.leave()
            raise

    def leave(self) -> None:
        self._used -= 1
        self._wake()

    def _wake(self) -> None:
        for urgent in (True, False):
            waiting = self._waiting[urgent]
            while waiting and self._used < self._places + urgent:
                first = waiting.popleft()
                if not first.done():
                    self._used += 1
                    first.set_result(None)


class _Turn(AbstractAsyncContextManager[None]):
    """A context manager for one priority of the gate; any number of tasks may use the same one."""

    def __init__(self, gate: BoxGate, *, urgent: bool) -> None:
        self._gate, self._urgent = gate, urgent

    async def __aenter__(self) -> None:
        await self._gate.enter(self._urgent)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gate.leave()
