"""Tasks that an agent's own code begins on the event loop of a run: they can end the agent's trial, and no other."""

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
    """The tasks of one agent's work: those that its own code runs in, or began."""


_WITHIN: ContextVar[_Family | None] = ContextVar("worksample_contained", default=None)
"""The agent's work whose code runs here; None in code of ours."""


def guard_tasks() -> None:
    """Let no agent's code cancel a task that is begun from here on, other than its own, or leave the loop by an exit.

    Idempotent, for the running event loop.
    """
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    if not isinstance(before, _Factory):
        loop.set_task_factory(_Factory(before))


async def contain(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Do an agent's own work in a task of its own; its result, or what it raised. AgentError where it cancelled itself.

    A cancellation from outside reaches the work, and is raised.
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
        raise AgentError("CancelledError: its own code cancelled it, or what it waited for")
    return ended[0]


def is_signal(error: BaseException) -> bool:
    """Whether an interrupt may be the operator's: not where the run has a handler of its own for that signal."""
    if not isinstance(error, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return False
    return getattr(signal.getsignal(signal.SIGINT), "__name__", "") != "_sighandler_noop"


class _Task(asyncio.Task[Any]):
    """A task that only its own family, or code of ours, can cancel."""

    family: _Family | None = None

    def cancel(self, msg: Any = None) -> bool:
        within = _WITHIN.get()
        if within is not None and self.family is not within:
            raise AgentError("its own code cancelled a task of the run, which is not its own")
        return super().cancel(msg)


class _Factory:
    """Makes tasks as `before` does, or guarded ones, and holds the exits of those of an agent's code."""

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
