"""Colleagues stop when they are told to, whatever they were at."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from worksample.workplace.colleagues.attending import Attending
from worksample.workplace.colleagues.hearing import Chat


@dataclass
class Line:
    """A box whose services answer when `fails` is told so: with a failure."""

    fails: asyncio.Future[None] | None = None
    dialled: asyncio.Event = field(default_factory=asyncio.Event)

    async def dial(self, port: int, address: str = "127.0.0.1") -> Any:
        self.fails = asyncio.get_running_loop().create_future()
        self.dialled.set()
        await self.fails


async def test_who_is_stopped_as_the_chat_answers_stops() -> None:
    """`asyncio.wait_for` of Python 3.11 lost the cancellation that came as what it waited for ended: a trial whose
    colleagues were just told something went on for ever.
    """
    for rounds in range(1, 6):
        line = Line()
        attending = Attending(Chat(line, "secret"), {}, pause=0.0)  # type: ignore[arg-type]
        attending._tasks.append(asyncio.create_task(attending._attend(0)))
        await line.dialled.wait()
        assert line.fails is not None
        line.fails.set_exception(ConnectionResetError())
        for _ in range(rounds):
            await asyncio.sleep(0)
        async with asyncio.timeout(20):
            await attending.stop()
