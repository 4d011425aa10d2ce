"""Rate limits per minute, in the memory of this process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from worksample.errors import WorksampleError

MINUTE = 60.0
_MOST_KEYS = 20_000


class TooMany(WorksampleError):
    """Too many attempts. `seconds`: time until the next one is allowed."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many attempts; try again in {seconds} seconds")
        self.seconds = seconds


class RateLimit:
    """A limit of `most` events per key within any minute. `clock`: monotonic seconds."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._clock = most, clock
        self._events: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> int:
        """Count an event. Return 0 if it is allowed, else the seconds to wait; a refused event is not counted."""
        with self._lock:
            now = self._clock()
            events = self._events.setdefault(key, deque())
            self._events.move_to_end(key)
            while events and events[0] <= now - MINUTE:
                events.popleft()
            if len(events) >= self.most:
                return max(1, int(events[0] + MINUTE - now) + 1)
            events.append(now)
            while len(self._events) > _MOST_KEYS:
                self._events.popitem(last=False)
            return 0

    def give_back(self, key: str) -> None:
        """Remove the latest event from the count."""
        with self._lock:
            events = self._events.get(key)
            if events:
                events.pop()
