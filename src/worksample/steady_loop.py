"""An event loop whose clock stands still while the platform itself does.

A trial's time limit, and whatever else waits for so many seconds, is told by the event loop's clock. Where this process
does not get round to its loop, since a callback takes long, or since it was stopped (SIGSTOP, a machine that is
suspended or has no processor to spare), nobody could be served, and nobody is to be charged. `SteadyLoop` looks in
between all callbacks and at least every `TICK` seconds; what is missing between two looks, but for `USUAL` seconds, is
a stall, and its clock leaves it out. `stalled` says how much of a span of time that was.

Processor time tells what stood still: much of it, and the loop was busy; none, and the process was stopped.
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
"""Seconds that the loop waits at most without a look at the clock."""
USUAL = TICK + 0.1
"""Seconds between two looks that are no stall."""
LEAST = 0.01
"""Seconds beyond that which are remembered."""
MOST_STALLS = 10_000
"""Stalls that are remembered."""
StallCallback = Callable[["Stall"], None]


@dataclass(frozen=True, slots=True)
class Stall:
    """A time in which the loop stood still."""

    at: datetime
    seconds: float
    processor: float
    """Seconds of processor time that the loop's thread took meanwhile."""
    charged: float = 0.0
    """Seconds of it that lie within work whose time is counted (`counted`)."""

    def within(self, begin: datetime, end: datetime) -> float:
        """How many of its seconds lie between two moments."""
        last = min(end, self.at + timedelta(seconds=self.seconds))
        return max(0.0, (last - max(begin, self.at)).total_seconds())


@dataclass(frozen=True, slots=True)
class Clocks:
    """What time is told by; a test has its own."""

    monotonic: Callable[[], float] = time.monotonic
    """Stands still while the machine is suspended."""
    boot: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
    """Goes on meanwhile."""
    processor: Callable[[], float] = time.thread_time
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)


class SteadyClock:
    """Seconds without stalls. `look` is called by the loop's thread alone; `time` by any."""

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
        """The seconds now. Between two looks they go on for as long as is usual, and no longer."""
        return self._steady + min(self._clocks.monotonic() - self._seen, USUAL)

    def look(self) -> None:
        """The loop got round to itself."""
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
        """Tell stalls apart that fall into work whose time is counted. For the loop's thread."""
        key = object()
        self._open[key] = self._clocks.wall()
        try:
            yield
        finally:
            self._ended.append((self._open.pop(key), self._clocks.wall()))

    def stalled_seconds(self, begin: datetime, end: datetime) -> float:
        """Seconds of stalls between two moments."""
        return sum(stall.within(begin, end) for stall in tuple(self.stalls))


_current: ContextVar[SteadyClock | None] = ContextVar("worksample_steady_clock", default=None)


def stalled_seconds(begin: datetime, end: datetime) -> float:
    """Seconds between two moments in which the loop that the caller's work belongs to stood still."""
    clock = _current.get()
    return clock.stalled_seconds(begin, end) if clock is not None else 0.0


def count_stalls() -> AbstractContextManager[None]:
    """Around work whose time is counted, in the loop that it belongs to."""
    clock = _current.get()
    return clock.count_stalls() if clock is not None else nullcontext()


def steady_time() -> float:
    """Seconds of the clock that the caller's work belongs to, also in a thread of it; else of the machine's."""
    clock = _current.get()
    return clock.time() if clock is not None else time.monotonic()


class _Selector(selectors.EpollSelector):
    """Tells the clock whenever the loop waits, and has it wait no longer than a tick."""

    def __init__(self, clock: SteadyClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See selectors.BaseSelector."""
        wait = TICK if timeout is None else min(timeout, TICK)
        self._clock.look()
        try:
            return super().select(wait)
        finally:
            self._clock.look()


class SteadyLoop(asyncio.SelectorEventLoop):
    """See the module."""

    def __init__(self, clock: SteadyClock | None = None) -> None:
        self.clock = clock or SteadyClock()
        super().__init__(_Selector(self.clock))

    def time(self) -> float:
        """Seconds without stalls."""
        return self.clock.time()


def run_steadily(main: Coroutine[Any, Any, T], watching: StallCallback | None = None) -> T:
    """`asyncio.run` with a steady loop. `watching` is called after each stall."""
    clock = SteadyClock(watching=watching)
    with asyncio.Runner(loop_factory=lambda: SteadyLoop(clock)) as runner:

        async def begin() -> T:
            _current.set(clock)
            return await main

        return runner.run(begin())
