"""Identity of this machine in names and lock files of folders that several machines may share, such as a home on NFS.

Process numbers mean something on one boot of one host only. A boot id alone tells machines apart, but not whether a
folder was left by an earlier boot of this host or is in use on another one: so names hold both.
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
    """What a recorded host and boot are to this process."""

    HERE = auto()
    """This boot: process numbers and start times can be compared."""
    EARLIER_BOOT = auto()
    """This host before it was restarted: none of its processes lives."""
    ELSEWHERE = auto()
    """Another host: nothing here can tell whether its processes live."""
    UNKNOWN = auto()
    """Recorded by an earlier version, without a machine."""


@functools.cache
def boot_id() -> str:
    """Return 8 hexadecimal digits that differ between boots and between machines."""
    return short_id(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))


def host_id() -> str:
    """Return 8 hexadecimal digits of this host, the same after a restart: of its name and its machine id.

    Machines started from one disk image may share a machine id, and containers often have none, so the name counts too.
    """
    known = ""
    with suppress(OSError):
        known = Path("/etc/machine-id").read_text(encoding="ascii")
    return short_id(f"{socket.gethostname()}\0{known}")


def machine_id() -> str:
    """Return `host-boot`, as names and lock files hold it."""
    return f"{host_id()}-{boot_id()}"


def relation_to(machine: str, changed: float) -> MachineRelation:
    """Return what a recorded `host-boot` is to this machine; "" is unknown.

    `changed`: when the named folder last changed, as seconds since 1970. What changed after this boot is not of an
    earlier one, so equal host ids are then two hosts that cannot be told apart.
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
    """Return whether something counts as left behind although its process cannot be checked."""
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
    """Write this machine into a lock file that this process has locked; open it with "a", so that who waits for the
    lock does not empty it.
    """
    lock.truncate(0)
    lock.write(machine_id())
    lock.flush()


def is_lock_of_another_machine(lock: IO[str]) -> bool:
    """Return whether a lock file may be held where this machine's kernel does not see it (NFS without locks).

    A lock file without a machine, of an earlier version, counts as foreign until it is unchanged for 7 days.
    """
    changed = os.fstat(lock.fileno()).st_mtime
    lock.seek(0)
    relation = relation_to(lock.read(64).strip(), changed)
    return relation is not MachineRelation.HERE and not is_abandoned(relation, changed)


def short_id(text: str) -> str:
    """Return 8 hexadecimal digits of a text."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:8]
