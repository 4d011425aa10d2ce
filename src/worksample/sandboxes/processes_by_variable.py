"""Processes found by a variable in their environment, if nothing else identifies them: those of a box without
protection, and children that bubblewrap forked but never released because it was killed.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

from worksample.files.machine import machine_id
from worksample.files.scratch_folder import MAKER_PATTERN, is_gone, maker_of_this_process

MARK = "WORKSAMPLE_PLAIN_BOX"
"""Variable of a plain box's processes; its value is the box's folder."""


MAKER = "WORKSAMPLE_MAKER"
"""Variable of bubblewrap itself, which does not pass on its environment; its value identifies the platform's process.
"""
_MAKER = re.compile(rf"{MAKER}={MAKER_PATTERN}")


def maker_environment() -> dict[str, str]:
    """Return the environment of a bubblewrap that this process starts."""
    return {MAKER: maker_of_this_process()}


def kill_marked(folder: Path) -> None:
    """Kill every process of the plain box with this folder, again and again until none is left. Processes that cleared
    their environment escape.
    """
    mark = f"{MARK}={folder}".encode()
    while _kill_marked(lambda word: word == mark):
        pass


def kill_orphans() -> int:
    """Kill what is left of every bubblewrap whose platform is dead; return the number of processes."""

    def is_orphan(word: bytes) -> bool:
        found = _MAKER.fullmatch(word.decode("ascii", "replace"))
        if found is None:
            return False
        # A process that runs here was started in this boot, so words of earlier versions need no machine.
        pid, started, space, _ = found.groups()
        return is_gone(pid, started, space, machine_id(), changed=0.0)

    return _kill_marked(is_orphan)


def _kill_marked(marked: Callable[[bytes], bool]) -> int:
    return sum(_kill_if_marked(int(place.name), marked) for place in Path("/proc").glob("[0-9]*"))


def _kill_if_marked(pid: int, marked: Callable[[bytes], bool]) -> bool:
    """Kill a process if it has the mark; return whether it was killed. Uses a pidfd, since process ids are reused."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if pid == os.getpid() or not any(map(marked, Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))):
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(process)
    return True
