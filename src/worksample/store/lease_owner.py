"""Owners of leases. An owner is a process, and its name is unique even if the operating system reuses the process
id.
"""

from __future__ import annotations

import os
import re
import socket
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_FIELDS = 5
_NUMBER = re.compile(r"[0-9]{1,9}\Z")


def new_owner() -> str:
    """Return a new name of an owner, in the form `host:kernel:pid:start:random`.

    `kernel` combines the id of the boot and the namespace of process ids, because two containers on one machine may
    both have a process 7. `start` distinguishes the process from a later process with the same id.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}:{_kernel()}:{pid}:{_start(pid) or 0}:{uuid.uuid4().hex[:8]}"


def is_dead(owner: str) -> bool:
    """Return whether the owner's process has certainly exited, so that its leases can be taken over at once.

    A process of another machine, boot or container cannot be checked. For such an owner the function returns False, and
    its leases must expire.
    """
    parts = owner.split(":")
    known = len(parts) == _FIELDS and parts[1] and parts[1] == _kernel()
    if not known or not all(_NUMBER.match(part) for part in parts[2:4]):
        return False
    pid, start = int(parts[2]), int(parts[3])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # another user's process: it is alive
    # A system may hide other users' processes, so their start is unknown.
    found = _start(pid)
    return found is not None and found != start


def _start(pid: int) -> int | None:
    """Return the time at which a process started, in clock ticks since the boot. Return 0 for a zombie process, and
    None if the time cannot be read.
    """
    with suppress(OSError):
        # The process name in brackets may contain any characters.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace", encoding="utf-8").rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return None


@cache
def _kernel() -> str:
    """Return the identity of the running kernel and its namespace of process ids. Return "" if it cannot be read."""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').stat().st_ino}"
    return ""
