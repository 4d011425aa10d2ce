"""Who holds a lease: a process, told from every other one, also after its number was given to another."""

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
    """`host:kernel:pid:start:random`, as every lease of the platform names its owner.

    `kernel` is the boot's id and the namespace in which the number counts: two containers of one machine both have a
    process 7. `start` tells the process from a later one of the same number.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}:{_kernel()}:{pid}:{_start(pid) or 0}:{uuid.uuid4().hex[:8]}"


def is_dead(owner: str) -> bool:
    """Whether the owner is a process that is gone for sure: its leases need not be waited for.

    Of a process elsewhere, before the last boot, or in another container nothing is known: its leases run out.
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
        pass  # another user's: it lives
    # A system may hide other users' processes: then their start is not known.
    found = _start(pid)
    return found is not None and found != start


def _start(pid: int) -> int | None:
    """Ticks of the clock from the boot to the start of a process, 0 for one that ended and was not waited for; None
    where that is not to be seen."""
    with suppress(OSError):
        # The name in brackets may hold anything.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace", encoding="utf-8").rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return None


@cache
def _kernel() -> str:
    """Empty where a process may not even look at itself."""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').stat().st_ino}"
    return ""
