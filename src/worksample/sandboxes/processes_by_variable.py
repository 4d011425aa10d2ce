"""Search for processes by a variable in their environment, for processes that nothing else identifies. These are the
processes of a box without protection, and children that bubblewrap forked but never released because it was killed.
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
"""Environment variable of the processes of a plain box (a box without protection). Its value is the folder of the
box.
"""


MAKER = "WORKSAMPLE_MAKER"
"""Environment variable of the bubblewrap program. Its value identifies the platform's process. bubblewrap does not pass
this variable to programs in the box.
"""
_MAKER = re.compile(rf"{MAKER}={MAKER_PATTERN}")


def maker_environment() -> dict[str, str]:
    """Return the environment variables for a bubblewrap program that this process starts."""
    return {MAKER: maker_of_this_process()}


def kill_marked(folder: Path) -> None:
    """Kill every process of the plain box with this folder, repeatedly until none is left. Processes that have cleared
    their environment are not found.
    """
    mark = f"{MARK}={folder}".encode()
    while _kill_marked(lambda word: word == mark):
        pass


def kill_orphans() -> int:
    """Kill the remaining processes of every bubblewrap whose platform process is dead. Return the number of killed
    processes.
    """

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
    """Kill a process if `marked` accepts its environment. Return whether the process was killed. A pidfd is used,
    because process ids are reused.
    """
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
