"""The holder of a box: the operations on a box that only the host can do, and the locks on the images and seeds that
the box uses.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from pathlib import Path
from typing import Any, Protocol

from worksample.box import BoxConfig

KEPT_AS = "image.json"
"""Name of the file beside each unpacked image in the cache. The file describes the image, and every user of the image
locks the file.
"""
SEED_ABOUT = "seed.json"
"""Name of the file beside each stored state of a workplace's seed. The file describes the seed, and every box that
mounts the seed locks the file.
"""
STOPPED_WAIT = 60.0
"""Maximum seconds to wait until a killed holder process has disappeared."""


class Holder(Protocol):
    """The program that made the namespaces of a box and can end the box. Every method except `start` may block."""

    async def start(self) -> socket.socket:
        """Start the exec server and return the host's end of the socket that connects to it. Raises SandboxError."""
        ...

    def plan(self) -> dict[str, Any]:
        """Return the plan by which the exec server finishes the box (`layout.exec_plan`)."""
        ...

    def adopt(self) -> None:
        """Record the exec server that is starting, so that it can be killed even if this process ends."""
        ...

    def messages(self) -> str:
        """Return the text that the exec server and the program that started the box have printed."""
        ...

    def oom_kills(self) -> int:
        """Return how many processes of the box the kernel has killed for lack of memory."""
        ...

    def processor_seconds(self) -> float | None:
        """Return the processor seconds that the box has used, or None if this machine cannot count them."""
        ...

    def freeze(self, frozen: bool) -> bool:
        """Stop every process of the box if `frozen`, otherwise let the processes continue. Return False if the exec
        server must do this instead. Raises SandboxError.
        """
        ...

    def hurry(self) -> None:
        """Give a background box the processor share of a normal box, if this machine can do that."""
        ...

    def end(self) -> None:
        """Kill every process of the box and wait until the processes are gone. Raises SandboxError. Idempotent."""
        ...

    def remove(self) -> None:
        """Remove the files and folders that the box left on the host. Call this after every process of the box has
        ended.
        """
        ...


def lock_images(config: BoxConfig) -> list[int]:
    """Lock the images of a box's root and the seeds among its mounts, so that nobody removes them. Return the
    descriptors of the locks.

    The locks are shared and end with this process. A root file system outside the cache is not locked.
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
