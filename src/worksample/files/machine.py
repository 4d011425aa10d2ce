"""Identity of this machine in names and lock files of folders that several machines may share, such as a home on NFS.

A process number is valid on one host only, and only until that host restarts. Names therefore hold an id of the host
and an id of its boot. The boot id alone does not show whether an earlier boot of this host made a folder, or another
host that still uses it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import time
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import IO

UNKNOWN_SECONDS = 7 * 86_400.0
"""How long a folder of an unknown machine must be unchanged before it counts as left behind. Names of earlier versions
hold no machine.
"""


class MachineRelation(Enum):
    """Relation of a recorded host and boot to this process."""

    HERE = auto()
    """The same host and boot. Process numbers and start times can be compared."""
    EARLIER_BOOT = auto()
    """The same host before a restart. All its processes have ended."""
    ELSEWHERE = auto()
    """Another host. This machine cannot check whether its processes still run."""
    UNKNOWN = auto()
    """No machine was recorded, because an earlier version wrote the name."""


@functools.cache
def boot_id() -> str:
    """Return 8 hexadecimal digits that differ between boots and between machines."""
    return short_id(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))


def host_id() -> str:
    """Return an id of this host: 8 hexadecimal digits of its name and machine id. A restart does not change it.

    Machines started from one disk image may share a machine id, and containers often have none, so the name counts too.
    """
    known = ""
    with suppress(OSError):
        known = Path("/etc/machine-id").read_text(encoding="ascii")
    return short_id(f"{socket.gethostname()}\0{known}")


def machine_id() -> str:
    """Return `host-boot`, the id of this machine in names and lock files."""
    return f"{host_id()}-{boot_id()}"


def relation_to(machine: str, changed: float) -> MachineRelation:
    """Return the relation of a recorded `host-boot` to this machine. An empty text is unknown.

    `changed`: when the named folder last changed, as seconds since 1970. If the folder changed after this machine
    started, an earlier boot cannot have changed it. An equal host id then belongs to another host.
    """
    host, _, boot = machine.partition("-")
    if boot == boot_id():
        return MachineRelation.HERE
    if not host or not boot:
        return MachineRelation.UNKNOWN
    if host == host_id() and changed < booted_at():
        return MachineRelation.EARLIER_BOOT
    return MachineRelation.ELSEWHERE


def is_abandoned(relation: MachineRelation, changed: float) -> bool:
    """Return whether a folder or lock file counts as abandoned although its process cannot be checked."""
    if relation is MachineRelation.UNKNOWN:
        return time.time() - changed > UNKNOWN_SECONDS
    return relation is MachineRelation.EARLIER_BOOT


@functools.cache
def booted_at() -> float:
    """Return when this machine was started, as seconds since 1970."""
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0


def sign_lock(lock: IO[str]) -> None:
    """Write the id of this machine into a lock file that this process has locked. Open the file with mode "a", so that
    a process that waits for the lock does not empty it.
    """
    lock.truncate(0)
    lock.write(machine_id())
    lock.flush()


def is_lock_of_another_machine(lock: IO[str]) -> bool:
    """Return whether another machine may hold a lock file, unseen by this kernel (for example on NFS without locks).

    A lock file that names no machine was written by an earlier version. It counts as held elsewhere until it has been
    unchanged for 7 days.
    """
    changed = os.fstat(lock.fileno()).st_mtime
    lock.seek(0)
    relation = relation_to(lock.read(64).strip(), changed)
    return relation is not MachineRelation.HERE and not is_abandoned(relation, changed)


def short_id(text: str) -> str:
    """Return 8 hexadecimal digits of a text."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:8]
