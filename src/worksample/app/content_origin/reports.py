"""What deliverables asked for outside, and did not get: kept in memory, within limits."""

from __future__ import annotations

import threading
from collections import OrderedDict

from worksample.people.clock import wall

DISTINCT, LABELS, LONGEST = 200, 500, 300
_OUTSIDE = ("http://", "https://", "ws://", "wss://")


class Reports:
    """For any number of threads. Pages may invent reports of their own: they are a hint to show, no evidence."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, OrderedDict[tuple[str, str], int]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, label: str, url: str, directive: str) -> None:
        """Keep a request that a policy blocked; what leads nowhere outside is none. The oldest make room."""
        if not url.startswith(_OUTSIDE):
            return
        key = (_short(url), _short(directive)[:40])
        with self._lock:
            mine = self._known.setdefault(label, OrderedDict())
            self._known.move_to_end(label)
            mine[key] = wall()
            mine.move_to_end(key)
            if len(mine) > DISTINCT:
                mine.popitem(last=False)
            if len(self._known) > LABELS:
                self._known.popitem(last=False)

    def of(self, label: str, since: int = 0) -> list[tuple[str, str]]:
        """Address and directive of what was blocked at `since` (microseconds since 1970) or later, the latest last."""
        with self._lock:
            return [key for key, when in self._known.get(label, {}).items() if when >= since]


def _short(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:LONGEST])
