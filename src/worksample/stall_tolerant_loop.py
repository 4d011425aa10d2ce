"""An event loop whose clock stops while the platform itself is stalled.

Time limits of trials and other waits use the event loop's clock. A long callback blocks the loop, and so does a stopped
process (SIGSTOP, a suspended or overloaded machine). The loop then serves nobody, so no trial is charged for that time.
`SteadyLoop` checks the clock between all callbacks and at least every `TICK` seconds. More than `USUAL` seconds between
two checks are a stall, and the loop's clock leaves them out. `stalled_seconds` returns how much of a time span was
stalled.

Processor time shows the cause: the loop was busy if the process used much of it, and stopped if it used none.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")
TICK = 0.25
"""Maximum seconds between two looks at the clock."""
USUAL = TICK + 0.1
"""Longest time between two looks, in seconds, that is not a stall."""
LEAST = 0.01
"""Shortest stall that is recorded, in seconds."""
MOST_STALLS = 10_000
"""Maximum number of stalls that are remembered."""
StallCallback = Callable[["Stall"], None]


@dataclass(frozen=True, slots=True)
class Stall:
    """A time span in which the loop was blocked."""

    at: datetime
    seconds: float
    processor: float
    """Seconds of processor time that the loop's thread used during the stall."""
    charged: float = 0.0
    """Seconds of the stall that fall into work whose time is counted (`count_stalls`)."""

    def within(self, begin: datetime, end: datetime) -> float:
        """Return how many seconds of the stall lie between two moments."""
        last = min(end, self.at + timedelta(seconds=self.seconds))
        # Moments are rounded to microseconds, seconds are not.
        return min(self.seconds, max(0.0, (last - max(begin, self.at)).total_seconds()))


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of the operating system; tests pass their own."""

    monotonic: Callable[[], float] = time.monotonic
    """Seconds that stop while the machine is suspended."""
    boot: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
    """Seconds that go on while the machine is suspended."""
    processor: Callable[[], float] = time.thread_time
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)


class SteadyClock:
    """Seconds without stalls. Only the loop's thread may call `look`; any thread may call `time`."""

    def __init__(self, clocks: Clocks = Clocks(), watching: StallCallback | None = None) -> None:
        self.stalls: deque[Stall] = deque(maxlen=MOST_STALLS)
        self._open: dict[object, datetime] = {}
        self._ended: list[tuple[datetime, datetime]] = []
        """Spans of work whose time is counted: those that go on, and those that ended since the last look."""
        self._clocks, self._watching = clocks, watching
        self._asleep = clocks.boot() - clocks.monotonic()
        self._processor = clocks.processor()
        self._steady = self._seen = clocks.monotonic()

    def time(self) -> float:
        """Return the seconds now. Between two looks they advance by at most `USUAL`."""
        return self._steady + min(self._clocks.monotonic() - self._seen, USUAL)

    def look(self) -> None:
        """Record that the loop is running, and record a stall if too much time has passed since the last look."""
        now, processor = self._clocks.monotonic(), self._clocks.processor()
        gone, usual = now - self._seen, min(now - self._seen, USUAL)
        asleep = self._clocks.boot() - now
        lost = gone - usual + max(0.0, asleep - self._asleep)
        taken = processor - self._processor
        self._steady += usual
        self._seen, self._processor, self._asleep = now, processor, asleep
        if lost > LEAST:
            wall = self._clocks.wall()
            stall = Stall(wall - timedelta(seconds=lost), lost, taken)
            spans = [*self._ended, *((begin, wall) for begin in self._open.values())]
            stall = replace(stall, charged=max((stall.within(*span) for span in spans), default=0.0))
            self.stalls.append(stall)
            if self._watching is not None:
                self._watching(stall)
        self._ended.clear()

    @contextmanager
    def count_stalls(self) -> Iterator[None]:
        """Count stalls during the `with` as time of the work. Only the loop's thread may call this."""
        key = object()
        self._open[key] = self._clocks.wall()
        try:
            yield
        finally:
            self._ended.append((self._open.pop(key), self._clocks.wall()))

    def stalled_seconds(self, begin: datetime, end: datetime) -> float:
        """Return the seconds of stalls between two moments."""
        return sum(stall.within(begin, end) for stall in tuple(self.stalls))


_current: ContextVar[SteadyClock | None] = ContextVar("worksample_steady_clock", default=None)


def stalled_seconds(begin: datetime, end: datetime) -> float:
    """Return for how many seconds between two moments the caller's loop was stalled."""
    clock = _current.get()
    return clock.stalled_seconds(begin, end) if clock is not None else 0.0


def count_stalls() -> AbstractContextManager[None]:
    """Count stalls of the caller's loop during the `with` as time of the work."""
    clock = _current.get()
    return clock.count_stalls() if clock is not None else nullcontext()


def steady_time() -> float:
    """Return the seconds of the caller's steady clock, also in its threads. Without a steady clock, return the
    machine's monotonic seconds.
    """
    clock = _current.get()
    return clock.time() if clock is not None else time.monotonic()


class _Selector(selectors.EpollSelector):
    """A selector that updates the clock whenever the loop waits, and never waits longer than a tick."""

    def __init__(self, clock: SteadyClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for events; see selectors.BaseSelector."""
        wait = TICK if timeout is None else min(timeout, TICK)
        self._clock.look()
        try:
            return super().select(wait)
        finally:
            self._clock.look()


class SteadyLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time` leaves out stalls, as this module describes."""

    def __init__(self, clock: SteadyClock | None = None) -> None:
        self.clock = clock or SteadyClock()
        super().__init__(_Selector(self.clock))

    def time(self) -> float:
        """Return the seconds without stalls."""
        return self.clock.time()


def run_steadily(main: Coroutine[Any, Any, T], watching: StallCallback | None = None) -> T:
    """Run a coroutine as `asyncio.run` does, on a steady loop. `watching` is called after each stall."""
    clock = SteadyClock(watching=watching)
    with asyncio.Runner(loop_factory=lambda: SteadyLoop(clock)) as runner:

        async def begin() -> T:
            _current.set(clock)
            return await main

        return runner.run(begin())
