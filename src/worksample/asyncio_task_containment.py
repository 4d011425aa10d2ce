"""Containment of asyncio tasks: an agent's own code may end its own trial, but cannot end other tasks of the run."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Coroutine
from contextvars import ContextVar
from typing import Any, cast

import anyio

from worksample.errors import AgentError


class _Family:
    """Tasks of one agent: the task that runs its code, and all tasks that its code started."""


_WITHIN: ContextVar[_Family | None] = ContextVar("worksample_contained", default=None)
"""The agent's work whose code is running; None in the platform's code."""


def guard_tasks() -> None:
    """Protect all tasks that start after this call: agents' code can neither cancel them nor exit the event loop.

    Idempotent, for the running event loop.
    """
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    if not isinstance(before, _Factory):
        loop.set_task_factory(_Factory(before))


async def contain(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Run an agent's own code in its own task. Return its result, or raise its exception; AgentError if it cancelled
    itself.

    A cancellation from outside reaches the agent's code and is raised.
    """
    ended: list[tuple[Any, BaseException | None]] = []

    async def run() -> None:
        family = _Family()
        _WITHIN.set(family)
        if isinstance(task := asyncio.current_task(), _Task):
            task.family = family
        try:
            ended.append((await work, None))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - an agent's own code may raise anything
            ended.append((None, error))

    guard_tasks()
    async with anyio.create_task_group() as group:
        group.start_soon(run)
    if not ended:
        raise AgentError("CancelledError: the agent's own code cancelled itself, or a task that it waited for")
    return ended[0]


def is_signal(error: BaseException) -> bool:
    """Return whether an interrupt may come from the operator. It cannot if the run handles that signal itself."""
    if not isinstance(error, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return False
    return getattr(signal.getsignal(signal.SIGINT), "__name__", "") != "_sighandler_noop"


class _Task(asyncio.Task[Any]):
    """Task that only its own family, or the platform's code, can cancel."""

    family: _Family | None = None

    def cancel(self, msg: Any = None) -> bool:
        within = _WITHIN.get()
        if within is not None and self.family is not within:
            raise AgentError("the agent's own code tried to cancel another task of the run")
        return super().cancel(msg)


class _Factory:
    """Task factory that creates guarded tasks, or calls `before`, and turns exits in agents' code into errors."""

    def __init__(self, before: Any) -> None:
        self.before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, work: Any, **rest: Any) -> Any:
        family = _WITHIN.get()
        work = work if family is None else _raise_contained(work)
        if self.before is not None:
            return self.before(loop, work, **rest)
        task = _Task(cast("Coroutine[Any, Any, Any]", work), loop=loop, **rest)
        task.family = family
        return task


async def _raise_contained(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await work
    except SystemExit as error:
        raise AgentError(f"SystemExit: {error.code}") from None
    except KeyboardInterrupt as error:
        if is_signal(error):
            raise
        raise AgentError("KeyboardInterrupt") from None
