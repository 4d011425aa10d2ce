"""Processes of a box without protection, known by a word in their environment: nothing else tells who they are."""

from __future__ import annotations

import os
import signal
from pathlib import Path

MARK = "WORKSAMPLE_PLAIN_BOX"
"""The variable; its value is the box's folder."""


def end_marked(folder: Path) -> None:
    """Kill every process of the box with this folder, but for those that cleared their environment, until there is
    none: one may be starting others."""
    mark = f"{MARK}={folder}".encode()
    while sum(_ended(int(place.name), mark) for place in Path("/proc").glob("[0-9]*")):
        pass


def _ended(pid: int, mark: bytes) -> bool:
    """Whether it had the mark, and was sent its end. It is looked at by a descriptor: numbers are given again."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if pid == os.getpid() or mark not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(process)
    return True
