"""Records that were read already: what has an id never changes, and a queue shows the same few again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from worksample.records import Record

if TYPE_CHECKING:
    from worksample.store import Store

R = TypeVar("R", bound=Record)
MOST = 2048


class Recall:
    """The `get` of a store, for any number of threads; the records that were asked for last are kept."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        self._store, self._most = store, most
        self._kept: OrderedDict[tuple[type[Record], str], Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, cls: type[R], id: str) -> R:
        """The record with this id. RecordMissing, which is not kept."""
        key = (cls, id)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: R = self._kept[key]
                return found
        found = self._store.get(cls, id)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
