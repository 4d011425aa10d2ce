"""Tasks that an agent's own code begins on the event loop of a run: they can end the agent's trial, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

from worksample.errors import AgentError

_WITHIN: ContextVar[bool] = ContextVar("worksample_contained", default=False)
"""Whether an agent's own code runs here."""


def contained() -> None:
    """Let no `sys.exit` in a task that is begun from here leave the event loop, which would end every trial on it."""
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    _WITHIN.set(True)
    if getattr(before, "contains", False):
        return

    loop.set_task_factory(_Factory(before))


class _Factory:
    """Makes tasks as `before` does, or the event loop itself, and holds the exits of those of an agent's code."""

    contains = True

    def __init__(self, before: Any) -> None:
        self.before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, work: Any, **rest: Any) -> Any:
        work = _held(work) if _WITHIN.get() else work
        return asyncio.Task(work, loop=loop, **rest) if self.before is None else self.before(loop, work, **rest)


async def _held(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await work
    except SystemExit as error:
        raise AgentError(f"SystemExit: {error.code}") from None


def stopped() -> bool:
    """Whether somebody cancels the current task, unlike a cancelled task that it only waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
