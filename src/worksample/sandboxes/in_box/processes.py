"""Functions with which process 1 controls the processes of the box: kill a command with its descendants, stop all
processes, watch their memory.
"""

# pathlib and contextlib would add a third to the start-up time of a box.
# ruff: noqa: PTH123, PTH208, SIM105

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal without its enums
import os
import time

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any


ROUNDS = 200
PAGE = os.sysconf("SC_PAGE_SIZE")


def _other_processes() -> list[int]:
    me = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != me]


def _stat(pid: int) -> tuple[str, int]:
    """Return the state letter and the parent's process id of a process, or ("", 0) if the process has gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return "", 0
    return fields[0].decode(), int(fields[1])


def _signal_one(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _descendants(root: int) -> list[int]:
    """Return the process id of every living descendant of `root`. `root` is a child subreaper, so it adopts the orphans
    among its descendants.
    """
    children: dict[int, list[int]] = {}
    for pid in _other_processes():
        state, parent = _stat(pid)
        if state not in ("", "Z", "X"):
            children.setdefault(parent, []).append(pid)
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def kill_tree(root: int) -> None:
    """Kill a command and every process that it started, including processes that left its session. The command itself
    is killed last, so that no child escapes.

    If processes remain after many rounds, they multiply faster than they are found. Then every process of the box is
    killed.
    """
    _signal_one(root, _signal.SIGSTOP)
    for _ in range(ROUNDS):
        living = _descendants(root)
        if not living:
            break
        for pid in living:
            _signal_one(pid, _signal.SIGKILL)
    else:
        kill_all()
    _signal_one(root, _signal.SIGKILL)


def kill_all() -> None:
    """Kill every process of the box except process 1."""
    for _ in range(ROUNDS):
        if not any(_stat(pid)[0] not in ("", "Z", "X") for pid in _other_processes()):
            return
        signal_all_once(_signal.SIGKILL)
        time.sleep(0.001)


def signal_all_once(number: int) -> None:
    """Send a signal to all other processes of the box with one system call, which no fork can escape."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass


def signal_all(number: int) -> None:
    """Stop or continue every other process of the box. Stopping is repeated until no running process is found."""
    for _ in range(ROUNDS):
        signal_all_once(number)
        if number != _signal.SIGSTOP or all(_stat(pid)[0] in ("", "T", "t", "Z", "X") for pid in _other_processes()):
            return
        time.sleep(0.001)


class Watchdog:
    """A memory limit for boxes without a control group. The watchdog checks memory often and kills the largest process
    if the total exceeds the limit.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self.limit: int = plan["memory"]
        self.period: float = plan["watch"]
        self.due = 0.0

    def check(self) -> bool:
        """Check the total memory of the box. Return whether a process was killed."""
        pids = _other_processes()
        segments = _shared_segments()
        total = sum(_resident(pid) for pid in pids) + segments
        now = time.monotonic()
        if total <= self.limit:
            calm = 20 if not pids else 2 if total < self.limit // 2 else 1
            self.due = now + self.period * calm
            return False
        self.due = now + self.period
        sizes = {pid: _proportional(pid) for pid in pids}
        if sum(sizes.values()) + segments <= self.limit:
            return False
        if sizes:
            _signal_one(max(sizes, key=lambda pid: sizes[pid]), _signal.SIGKILL)
        if segments:
            # Segments survive their creators: if they stayed, every later process would be killed for their size.
            _drop_unattached()
        return True


def _proportional(pid: int) -> int:
    """Return the memory of a process in bytes, with its proportional share of shared pages. If the share is unknown,
    count shared pages in full.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _resident(pid)


def _resident(pid: int) -> int:
    """Return the memory of a process in bytes, with shared pages counted in full. The number is fast to read and never
    too low.
    """
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except OSError:
        return 0


def _segments() -> list[dict[str, int]]:
    """Return the System V shared memory segments of the box, each with its `shmid`, `nattch`, `rss` and other
    values.
    """
    try:
        with open("/proc/sysvipc/shm", encoding="utf-8") as file:
            head, *lines = (line.split() for line in file)
    except (OSError, ValueError):
        return []
    return [
        {name: int(value) for name, value in zip(head, line, strict=False) if value.lstrip("-").isdigit()}
        for line in lines
    ]


def _shared_segments() -> int:
    """Return the total bytes of System V shared memory in the box. This memory belongs to no process."""
    return sum(segment.get("rss", 0) for segment in _segments())


def _drop_unattached() -> None:
    """Remove the System V shared memory segments to which no process is attached."""
    import ctypes

    remove = ctypes.CDLL(None).shmctl
    for segment in _segments():
        if segment.get("nattch") == 0:
            remove(ctypes.c_int(segment["shmid"]), ctypes.c_int(0), None)
