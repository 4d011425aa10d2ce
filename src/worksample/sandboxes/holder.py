"""A box's holder: what only the host can do to a box, and the locks on images and seeds that the box uses."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from pathlib import Path
from typing import Any, Protocol

from worksample.box import BoxConfig

KEPT_AS = "image.json"
"""Beside an unpacked image in the cache: what it is, and the lock of those who have it."""
SEED_ABOUT = "seed.json"
"""The same beside the state of a workplace's seed, which its box has among its mounts."""
STOPPED_WAIT = 60.0
"""Seconds the holder may take to be gone after it was killed."""


class Holder(Protocol):
    """Who made the box's namespaces: what only the host can do to it. All but `start` may block."""

    async def start(self) -> socket.socket:
        """Start the exec server; return our end of the line to it. Raises SandboxError."""
        ...

    def plan(self) -> dict[str, Any]:
        """What the exec server is told first (`layout.plan`)."""
        ...

    def adopt(self) -> None:
        """While the exec server starts: note who it is, so that it can be ended whatever becomes of us."""
        ...

    def messages(self) -> str:
        """What whoever started it, and the exec server, had to say."""
        ...

    def oom_kills(self) -> int:
        """How many processes of the box the kernel has ended for want of memory."""
        ...

    def processor_seconds(self) -> float | None:
        """Seconds of the processors that the box has had; None where nobody counts."""
        ...

    def freeze(self, frozen: bool) -> bool:
        """Stop or continue every process; False where the exec server has to do it. Raises SandboxError."""
        ...

    def hurry(self) -> None:
        """Give a box in the background a fair share of the processors, where that can be done."""
        ...

    def end(self) -> None:
        """End every process of the box, and wait until they are gone. Raises SandboxError. Harmless when done twice."""
        ...

    def remove(self) -> None:
        """Remove what the box left on the host; nothing of it runs any more."""
        ...


def lock_images(config: BoxConfig) -> list[int]:
    """Shared locks on the images that a box's root is made of, and on the seeds that it is given, which keep them from
    being removed; they end with this process. None for a root file system that somebody else keeps."""
    roots = (config.root.folder, *config.root.over) if config.root else ()
    kept = [Path(folder).parent / KEPT_AS for folder in roots]
    kept += [Path(mount.source).parent / SEED_ABOUT for mount in config.mounts]
    locks: list[int] = []
    for path in kept:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            locks.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            fcntl.flock(locks[-1], fcntl.LOCK_SH)
    return locks
