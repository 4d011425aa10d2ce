"""What deliverables asked for outside, and did not get: counted in memory, within limits."""

from __future__ import annotations

import threading
from collections import OrderedDict

DISTINCT, LABELS, LONGEST = 200, 500, 300
_OUTSIDE = ("http://", "https://", "ws://", "wss://")


class Reports:
    """For any number of threads. Pages may invent reports of their own: they are figures to show, no evidence."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, dict[tuple[str, str], int]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, label: str, url: str, directive: str) -> None:
        """Count a request that a policy blocked; what leads nowhere outside is none."""
        if not url.startswith(_OUTSIDE):
            return
        key = (_short(url), _short(directive)[:40])
        with self._lock:
            mine = self._known.setdefault(label, {})
            self._known.move_to_end(label)
            if key in mine or len(mine) < DISTINCT:
                mine[key] = mine.get(key, 0) + 1
            while len(self._known) > LABELS:
                self._known.popitem(last=False)

    def of(self, label: str) -> list[tuple[str, str, int]]:
        """Address, directive, how often; in the order in which they came."""
        with self._lock:
            return [(url, directive, count) for (url, directive), count in self._known.get(label, {}).items()]


def _short(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:LONGEST])
