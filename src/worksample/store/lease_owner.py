"""Owners of leases: processes, distinguished even if a process id is reused."""

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
    """Return `host:kernel:pid:start:random`, the form in which every lease names its owner.

    `kernel` combines the boot's id and the namespace of process ids, because two containers of one machine may both
    have a process 7. `start` distinguishes the process from a later one with the same id.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}:{_kernel()}:{pid}:{_start(pid) or 0}:{uuid.uuid4().hex[:8]}"


def is_dead(owner: str) -> bool:
    """Return whether the owner is a process that has certainly ended, so that its leases can be taken over at once.

    Processes of other machines, boots or containers cannot be checked, so their leases must expire.
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
    """Return the clock ticks from boot to the start of a process; 0 for a zombie, None if it cannot be read."""
    with suppress(OSError):
        # The process name in brackets may contain any characters.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace", encoding="utf-8").rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return None


@cache
def _kernel() -> str:
    """Return the kernel's identity, or "" if a process may not even read its own."""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').stat().st_ino}"
    return ""
