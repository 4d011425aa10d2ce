"""A clock that counts the time that a command could use, on a machine where other programs may take the processors from
it.

The module imports only the standard library, because it also runs in boxes: in the exec server and in converters. Boxes
without an exec server use it on the host.
"""

# pathlib would add a third to the start-up time of a box.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import os
import time

LONGEST, SHORTEST = 1.0, 0.05
"""Longest and shortest pause in seconds between two measurements of the clock."""
LATE = 0.25
"""Seconds. If a measurement happens later than planned by more than this, the platform itself lacked a processor, and
the excess time is not counted.
"""
_TICK = 1.0 / os.sysconf("SC_CLK_TCK")


class ProcessorClock:
    """The time that the process `root` and its descendants could use, as `FairTimeout` counts it.

    Normally, all time between two measurements counts. But if one of the processes is ready to run and waits for a
    processor, only the processor time that the processes used counts. The kernel only needs to report the states and
    times of processes.
    """

    def __init__(self, root: int, seconds: float, backstop: float) -> None:
        self.root, self.seconds = root, seconds
        self.had, self.held = 0.0, False
        self._processor = 0.0
        """Processor seconds that the processes have used on all processors together."""
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
        """Stop the clock if `held`, otherwise let it continue."""
        self.update()
        self.held = held

    def update(self) -> bool:
        """Count the time until now. Return whether the command's time limit or its backstop is reached."""
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
        """Return the seconds that the command could use, after the command has exited."""
        since = 0.0 if self.held else min(time.monotonic() - self._last, self._pause + LATE)
        return min(self.had + since, max(self.had, self.seconds))

    @property
    def is_expired(self) -> bool:
        """Return whether the command has used all the time of its limit."""
        return self.had >= self.seconds

    @property
    def is_starved(self) -> bool:
        """Return whether the backstop was reached although the command could not use all the time of its limit."""
        return self._last >= self._end and not self.is_expired


def _tree(root: int) -> dict[int, tuple[float, bytes]]:
    """Return process id -> (processor seconds, state) of `root` and its descendants. The times of exited children are
    included in the times of their parents.
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
    """Return whether any thread of these processes runs or waits for a processor."""
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
