"""Agents as a user writes them: an async function over the box, and one of Inspect's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.agent import Agent, agent, react
from inspect_ai.tool import bash

if TYPE_CHECKING:
    import worksample as ws

TINY = Path(__file__).parents[1] / "suites" / "tiny" / "suite.toml"
ADD = "awk -F, 'NR > 1 { n += 1; t += $2 } END { print n, t }'"


async def adder(work: ws.Assignment) -> None:
    """Adds up in the box, and hands in what it found."""
    done = await work.run(f"{ADD} {work.input}/items.csv")
    count, total = done.stdout.split()
    await work.write(f"{work.output}/total.json", json.dumps({"count": int(count), "total": int(total)}))


async def clumsy(work: ws.Assignment) -> None:
    """Fails by its own fault, with half of the work done."""
    await work.write(f"{work.output}/total.json", "{}")
    raise RuntimeError("I lost my notes")


async def asker(work: ws.Assignment) -> None:
    """Does not look at its model's failure."""
    assert work.model is not None
    await work.model.generate(work.brief)


async def sleeper(work: ws.Assignment) -> None:
    """Begins, says so in its output, and never ends."""
    await work.write(f"{work.output}/began", "yes")
    BEGAN.set()
    await asyncio.sleep(3600)


class Began:
    """Set from the thread that the engine runs in, waited for in another."""

    def __init__(self) -> None:
        import threading

        self.event = threading.Event()

    def set(self) -> None:
        self.event.set()

    async def wait(self) -> None:
        assert await asyncio.to_thread(self.event.wait, 120)


BEGAN = Began()


@agent
def helper(prompt: str = "Work.") -> Agent:
    """Inspect's ReAct agent with a shell."""
    return react(prompt=prompt, tools=[bash(timeout=30)])
