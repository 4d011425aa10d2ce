"""Supervision of background services. If a service fails, the work that depends on it is cancelled, and the failure is
raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class FailureSignal:
    """Signal of the first failure of one background service: a gateway, a browser, colleagues or a task's services."""

    overrules: bool = False
    """True if the failure is raised even if the work ends at the same moment. Work that depends on a gateway may end
    because the gateway has just refused to answer.
    """
    error: BaseException | None = None
    _failed: asyncio.Event = field(default_factory=asyncio.Event)

    def fail(self, error: BaseException) -> None:
        """Report a failure. Later ones are ignored."""
        if self.error is None:
            self.error = error
            self._failed.set()

    async def wait(self) -> None:
        """Wait until the service fails."""
        await self._failed.wait()


async def supervise(work: Awaitable[T], *signals: FailureSignal) -> T:
    """Return the result of `work`. If a service fails first, cancel `work`, wait for its end and raise the failure.

    If several have failed, the first of `signals` is raised.
    """
    if not signals:
        return await work
    task: asyncio.Future[T] = asyncio.ensure_future(work)
    failures = [asyncio.create_task(signal.wait()) for signal in signals]
    try:
        ends: list[asyncio.Future[Any]] = [task, *failures]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for signal in signals:
            if signal.error is not None and (signal.overrules or not task.done()):
                raise signal.error
        return await task
    finally:
        for failure in failures:
            failure.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
