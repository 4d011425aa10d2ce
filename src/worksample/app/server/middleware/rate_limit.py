"""How often something may happen within a minute; kept in this process alone."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from worksample.errors import WorksampleError

MINUTE = 60.0
_MOST_KEYS = 20_000


class TooMany(WorksampleError):
    """Too many; `seconds` until the next try."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many tries; come again in {seconds} seconds")
        self.seconds = seconds


class RateLimit:
    """At most `most` events per key in any minute. `clock`: seconds that never go back."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._clock = most, clock
        self._events: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> int:
        """Note an event: 0 where it may happen, else the seconds to wait. A refused one does not count."""
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
        """Forget the latest event: it was none that counts."""
        with self._lock:
            events = self._events.get(key)
            if events:
                events.pop()
