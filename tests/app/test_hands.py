"""Jobs done by threads for the event loop: results, errors, and callers that went away."""

from __future__ import annotations

import asyncio
import threading

import pytest

from worksample.app.wire.hands import Hands


async def test_a_job_returns_or_raises_where_it_came_from() -> None:
    hands: Hands[str] = Hands(2, "test")
    names = await asyncio.gather(*(hands.do(lambda: threading.current_thread().name) for _ in range(50)))
    assert set(names) <= {"test 0", "test 1"}

    def fail() -> str:
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        await hands.do(fail)
    assert await hands.do(lambda: "and goes on") == "and goes on"


async def test_a_job_is_done_although_nobody_waits_any_more() -> None:
    hands: Hands[None] = Hands(1, "test")
    go, done = threading.Event(), threading.Event()

    def job() -> None:
        assert go.wait(10)
        done.set()

    waiting = asyncio.create_task(hands.do(job))
    await asyncio.sleep(0)
    waiting.cancel()
    go.set()
    await hands.do(lambda: None)
    assert done.is_set() and waiting.cancelled()
