"""What boxes of this process look at just now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from worksample.viewing import View

Key = tuple[str, str]
"""Manifest digest, quoted path."""
Busy = dict[Key, asyncio.Future[View | None]]
"""Done with the view, or with None where a box of its own has to look at it later."""


@dataclass
class Watching:
    """Notes what boxes of one piece of work look at, so that others wait for it."""

    busy: Busy
    manifest: str
    mine: set[Key] = field(default_factory=set)

    def begin(self, path: str) -> bool:
        key = (self.manifest, path)
        if key in self.busy:
            return False
        self.busy[key] = asyncio.get_running_loop().create_future()
        self.mine.add(key)
        return True

    def end(self, path: str, view: View | None) -> None:
        key = (self.manifest, path)
        self.mine.discard(key)
        self.busy.pop(key).set_result(view)

    def close(self) -> None:
        for _, path in list(self.mine):
            self.end(path, None)
