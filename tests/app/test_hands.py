"""Jobs done by threads for the event loop: results, errors, and callers that went away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

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


class Around:
    """Notes how many jobs were done within each entering, and fails at the end of those that did `poison`."""

    def __init__(self) -> None:
        self.done: list[list[str]] = []
        self.began, self.go = threading.Event(), threading.Event()

    @contextmanager
    def within(self) -> Iterator[None]:
        self.done.append([])
        yield
        if "poison" in self.done[-1]:
            raise OSError("the disk is gone")

    def job(self, name: str) -> str:
        if name == "first":
            self.began.set()
            assert self.go.wait(10)
        if name == "wrong":
            raise KeyError(name)
        self.done[-1].append(name)
        return name


async def crowd(around: Around, *names: str) -> list[str | BaseException]:
    """The first job alone, the rest while it is being done."""
    hands: Hands[str] = Hands(1, "test", around.within)
    tasks = [asyncio.create_task(hands.do(partial(around.job, "first")))]
    assert await asyncio.to_thread(around.began.wait, 10)
    tasks += [asyncio.create_task(hands.do(partial(around.job, name))) for name in names]
    await asyncio.sleep(0.05)
    assert not any(task.done() for task in tasks)
    around.go.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_those_that_wait_are_done_within_one() -> None:
    around = Around()
    first, one, wrong, two = await crowd(around, "one", "wrong", "two")
    assert (first, one, two) == ("first", "one", "two") and isinstance(wrong, KeyError)
    assert around.done == [["first"], ["one", "two"]]


async def test_where_what_is_around_them_fails_all_of_them_did() -> None:
    first, *rest = await crowd(Around(), "one", "poison")
    assert first == "first" and all(isinstance(each, OSError) for each in rest) and len(rest) == 2
