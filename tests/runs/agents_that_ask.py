"""Agents of Python that ask their model what it rejects."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

FILE = "/task/output/hello.txt"


async def rejected(assignment: Any) -> None:
    """Has its request rejected, and does not mind the error."""
    await assignment.write(FILE, "wrong\n")
    await assignment.model.generate("TRIGGER")


async def caught(assignment: Any) -> None:
    """Catches what it has drawn, and raises something else."""
    await assignment.write(FILE, "wrong\n")
    try:
        await assignment.model.generate("TRIGGER")
    except Exception:  # noqa: BLE001 - an agent's own code
        raise ValueError("mine") from None


async def unsent(assignment: Any) -> None:
    """Asks what no client can write."""
    await assignment.write(FILE, "wrong\n")
    await assignment.model.generate("\ud800")


async def at_once(assignment: Any) -> None:
    """Makes several calls at once, of which the first fails for good."""
    model = assignment.model
    await asyncio.gather(model.generate("FAIL"), model.generate("one"), model.generate("two"))


async def in_a_group(assignment: Any) -> None:
    """The same in a group, whose errors come as one."""
    async with asyncio.TaskGroup() as group:
        group.create_task(assignment.model.generate("FAIL"))
        group.create_task(assignment.model.generate("SLOW"))


async def handled(assignment: Any) -> None:
    """Goes on after a call that failed, and then has a fault of its own."""
    try:
        await assignment.model.generate("FAIL")
    except Exception:  # noqa: BLE001 - an agent's own code
        await assignment.model.generate("one")
        raise KeyError("mine")  # noqa: B904 - as such code is written


async def cancels(assignment: Any) -> None:
    """Waits for a task that it has cancelled itself."""
    task = asyncio.create_task(asyncio.sleep(60))
    task.cancel()
    await task


async def exits_in_a_task(assignment: Any) -> None:
    """Leaves by `sys.exit` in a task of its own."""

    async def leave() -> None:
        sys.exit(4)

    await asyncio.create_task(leave())


async def odd_text(assignment: Any) -> None:
    """Raises what UTF-8 cannot hold."""
    raise RuntimeError("\ud800")


async def no_text(assignment: Any) -> None:
    """Raises what has no text."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("mine")

    raise Mute


async def odd_state(assignment: Any) -> None:
    """Leaves in its state what is no message and no output."""
    assignment.state.messages = ["hello", threading.Lock()]
    assignment.state.output = None
