"""System calls that Python does not wrap: mounts, capabilities, prctl, seccomp."""

from __future__ import annotations

import ctypes
import os

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC = 1, 2, 4, 32, 4096, 8192, 16384
MNT_DETACH = 2
CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_RESOURCE = 5, 6, 7, 8, 24
LAST_CAP = 40

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Call mount(2)."""
    _check(
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            data.encode() if data else None,
        ),
        f"mount {target}",
    )


def call(number: int, *arguments: int | bytes) -> int:
    """Make the system call `number` with integers and byte strings as arguments."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    _check(result, f"system call {number}")
    return result


def unmount(target: str) -> None:
    """Call umount2(2) with the flag for a lazy unmount."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Call pivot_root(2)."""
    number = 155 if os.uname().machine == "x86_64" else 41
    _check(_libc.syscall(ctypes.c_long(number), new.encode(), old.encode()), "pivot_root")


def setns(descriptor: int, kind: int) -> None:
    """Call setns(2)."""
    _check(_libc.setns(descriptor, kind), "setns")


def read_only(path: str) -> None:
    """Make the mount at `path` read-only."""
    flags = os.statvfs(path).f_flag & 0xE  # nosuid, nodev and noexec stay
    mount("none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)


def unshare(flags: int) -> None:
    """Call unshare(2)."""
    _check(_libc.unshare(flags), "unshare")


def prctl(option: int, argument: int = 0, pointer: object = None) -> None:
    """Call prctl(2) with one integer, or with an integer and a pointer."""
    third = ctypes.c_ulong(0) if pointer is None else pointer
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(argument), third, zero, zero), f"prctl {option}")


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapData(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def capabilities(keep: tuple[int, ...]) -> None:
    """Keep the Linux capabilities in `keep` (numbers below 32) as effective and permitted, and permanently drop all
    others.
    """
    prctl(PR_CAP_AMBIENT, 4)
    mask = sum(1 << cap for cap in keep)
    data = (_CapData * 2)(_CapData(mask, mask, 0), _CapData(0, 0, 0))
    _check(_libc.capset(ctypes.byref(_CapHeader(0x20080522, 0)), data), "capset")


def drop_bounding() -> None:
    """Empty the capability bounding set of this process, so that no program can regain a capability."""
    for cap in range(LAST_CAP + 1):
        prctl(PR_CAPBSET_DROP, cap)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def seccomp(program: bytes) -> None:
    """Install a seccomp filter for this process and all its future children. `program` is BPF code with 8 bytes per
    instruction.
    """
    code = ctypes.create_string_buffer(program, len(program))
    head = _Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.byref(head))
