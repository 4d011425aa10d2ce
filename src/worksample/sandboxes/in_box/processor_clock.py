"""A clock of the time that a command had, on a machine where other programs may keep it from the processors.

Standard library only: the exec server runs this in the box, and so do converters and boxes without a server.
"""

# pathlib would add a third to the start-up time of a box.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import os
import time

LONGEST, SHORTEST = 1.0, 0.05
"""Longest and shortest pause between two looks, in seconds."""
LATE = 0.25
"""If a look is later than planned by more than these seconds, it was itself kept from the processors, and the rest is
not counted.
"""
_TICK = 1.0 / os.sysconf("SC_CLK_TCK")


class ProcessorClock:
    """The time that the process `root` and its descendants had, as `FairTimeout` counts it.

    Between two looks a tree of processes had all of the time, unless one of them is ready to run: then it had what it
    computed and waited for the rest. The kernel only needs to report states and times of processes.
    """

    def __init__(self, root: int, seconds: float, backstop: float) -> None:
        self.root, self.seconds = root, seconds
        self.had, self.held = 0.0, False
        self._processor = 0.0
        """Seconds of all processors together."""
        self._cores = max(1, len(os.sched_getaffinity(0)))
        self._last = time.monotonic()
        self._pause = 0.0
        self._end = self._last + backstop
        self.due = 0.0
        self._plan()

    def _plan(self) -> None:
        self._pause = min(LONGEST, max(SHORTEST, (self.seconds - self.had) / 4))
        self.due = min(self._last + self._pause, max(self._last, self._end))

    def hold(self, held: bool) -> None:
        """Stop the clock, or let it run again."""
        self.update()
        self.held = held

    def update(self) -> bool:
        """Count until now; return whether the command's time, or the backstop, is over."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        members = _tree(self.root)
        processor = max(self._processor, sum(used for used, _ in members.values()))
        computed, self._processor = processor - self._processor, processor
        if self.held:
            self._end += passed
        else:
            self.had += max(computed / self._cores, self._count(passed, computed, members))
        self._plan()
        return self.is_expired or self.is_starved

    def _count(self, passed: float, computed: float, members: dict[int, tuple[float, bytes]]) -> float:
        usual = min(passed, self._pause + LATE)
        return min(usual, computed) if computed < usual and _is_ready(members) else usual

    def total(self) -> float:
        """Return the time that the command had, after its end."""
        since = 0.0 if self.held else min(time.monotonic() - self._last, self._pause + LATE)
        return min(self.had + since, max(self.had, self.seconds))

    @property
    def is_expired(self) -> bool:
        """Return whether the command has used its time."""
        return self.had >= self.seconds

    @property
    def is_starved(self) -> bool:
        """Return whether the backstop is over and the command had less than its time."""
        return self._last >= self._end and not self.is_expired


def _tree(root: int) -> dict[int, tuple[float, bytes]]:
    """Return processor seconds and state of `root` and its descendants, by process id; ended children are included in
    their parents' times.
    """
    found: dict[int, tuple[float, bytes]] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        found[int(name)] = (sum(map(int, fields[11:15])) * _TICK, fields[0])
        children.setdefault(int(fields[1]), []).append(int(name))
    members, queue = {}, [root] if root in found else []
    while queue:
        pid = queue.pop()
        members[pid] = found[pid]
        queue += children.get(pid, [])
    return members


def _is_ready(members: dict[int, tuple[float, bytes]]) -> bool:
    """Return whether any thread runs or waits for a processor."""
    return any(state == b"R" for _, state in members.values()) or any(
        _read_thread(pid, thread) == b"R" for pid in members for thread in _threads(pid)
    )


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def _read_thread(pid: int, thread: str) -> bytes:
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split(None, 1)[0]
    except OSError:
        return b""
