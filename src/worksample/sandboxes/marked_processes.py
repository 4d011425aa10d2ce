"""Processes known by a word in their environment, where nothing else tells who they are: those of a box without
protection, and what bubblewrap forked and was killed before it let it go on, which then waits for ever."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

from worksample.files.scratch import is_gone, maker_of_this_process

MARK = "WORKSAMPLE_PLAIN_BOX"
"""The variable; its value is the box's folder."""


MAKER = "WORKSAMPLE_MAKER"
"""The variable of bubblewrap itself, which gives nothing of its environment on; its value is the platform's process."""
_MAKER = re.compile(rf"{MAKER}=(\d+)-(\d+)-(\d+)".encode())


def of_this_process() -> dict[str, str]:
    """The environment of a bubblewrap that this process starts."""
    return {MAKER: maker_of_this_process()}


def end_marked(folder: Path) -> None:
    """Kill every process of the box with this folder, but for those that cleared their environment, until there is
    none: one may be starting others."""
    mark = f"{MARK}={folder}".encode()
    while _end(lambda word: word == mark):
        pass


def end_orphans() -> int:
    """Kill what is left of every bubblewrap whose platform is dead; how many there were."""

    def orphaned(word: bytes) -> bool:
        found = _MAKER.fullmatch(word)
        return found is not None and is_gone(*(int(number) for number in found.groups()))

    return _end(orphaned)


def _end(marked: Callable[[bytes], bool]) -> int:
    return sum(_ended(int(place.name), marked) for place in Path("/proc").glob("[0-9]*"))


def _ended(pid: int, marked: Callable[[bytes], bool]) -> bool:
    """Whether it had the mark, and was sent its end. It is looked at by a descriptor: numbers are given again."""
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
