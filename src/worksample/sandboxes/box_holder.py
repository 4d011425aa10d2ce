"""The holder of a box: what only the host can do to it, and the locks on images and seeds that it uses."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from pathlib import Path
from typing import Any, Protocol

from worksample.box import BoxConfig

KEPT_AS = "image.json"
"""File beside an unpacked image in the cache: describes the image, and is locked by those who use it."""
SEED_ABOUT = "seed.json"
"""The same file beside the state of a workplace's seed, which a box has among its mounts."""
STOPPED_WAIT = 60.0
"""Seconds that a killed holder may take to disappear."""


class Holder(Protocol):
    """The program that made the box's namespaces and can end it. Every method except `start` may block."""

    async def start(self) -> socket.socket:
        """Start the exec server and return our end of the connection to it. Raises SandboxError."""
        ...

    def plan(self) -> dict[str, Any]:
        """Return the exec server's plan (`layout.exec_plan`)."""
        ...

    def adopt(self) -> None:
        """Record the starting exec server, so that it can be killed whatever happens to this process."""
        ...

    def messages(self) -> str:
        """Return what the program that started the box, and the exec server, printed."""
        ...

    def oom_kills(self) -> int:
        """Return how many processes of the box the kernel has killed for lack of memory."""
        ...

    def processor_seconds(self) -> float | None:
        """Return the processor seconds that the box has used; None if nothing counts them."""
        ...

    def freeze(self, frozen: bool) -> bool:
        """Stop or continue every process; return False if the exec server must do it. Raises SandboxError."""
        ...

    def hurry(self) -> None:
        """Give a background box a fair share of the processors, if possible."""
        ...

    def end(self) -> None:
        """Kill every process of the box and wait until they are gone. Raises SandboxError. Idempotent."""
        ...

    def remove(self) -> None:
        """Remove what the box left on the host, once none of its processes runs."""
        ...


def lock_images(config: BoxConfig) -> list[int]:
    """Lock (shared) the images of a box's root and the seeds among its mounts, so that they are not removed; return the
    descriptors. The locks end with this process. A root file system outside the cache gets none.
    """
    roots = (config.root.folder, *config.root.over) if config.root else ()
    kept = [Path(folder).parent / KEPT_AS for folder in roots]
    kept += [Path(mount.source).parent / SEED_ABOUT for mount in config.mounts]
    locks: list[int] = []
    for path in kept:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            locks.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            fcntl.flock(locks[-1], fcntl.LOCK_SH)
    return locks
