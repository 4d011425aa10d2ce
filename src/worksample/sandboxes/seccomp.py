"""The system-call filter of a box. This module assembles the filter as classic BPF code without any library.

Every system call is allowed unless it is listed here. The listed calls give access to other namespaces, mounts, kernel
keys, tracing of other processes, programs in the kernel, and devices of the host. A refused call fails with EPERM.
Calls that libraries only try fail with ENOSYS, so that the libraries use another way.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterable

from worksample.errors import SandboxUnavailable

EPERM, ENOSYS = 1, 38
_LOAD, _EQUAL, _ABOVE, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCH = 0, 4
_NAMESPACES = 0x7E020000
"""The flags CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET} of clone(2), which create namespaces."""

_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86_64, aarch64); -1 if the machine has no such call
_REFUSED: dict[str, tuple[int, int]] = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, -1),
    "query_module": (178, -1),
    "get_kernel_syms": (177, -1),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "nfsservctl": (180, 42),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "modify_ldt": (154, -1),
    "uselib": (134, -1),
    "ustat": (136, -1),
    "sysfs": (139, -1),
    "_sysctl": (156, -1),
    "vhangup": (153, 58),
    "syslog": (103, 116),
    "lookup_dcookie": (212, 18),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "memfd_secret": (447, 447),
}
_ABSENT: dict[str, tuple[int, int]] = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),
}
_WITHOUT_GROUPS: dict[str, tuple[int, int]] = {"memfd_create": (319, 279)}
"""Calls that are refused on a machine without control groups. The watchdog that limits memory there cannot count memory
that belongs to no process.
"""
_CLONE, _IOCTL, _SOCKET, _PERSONALITY, _PRLIMIT, _PRCTL = (
    (56, 220),
    (16, 29),
    (41, 198),
    (135, 92),
    (302, 261),
    (157, 167),
)
_FCNTL = (72, 25)
_HELD_FILES = (1024, 1026)
"""The commands F_SETLEASE and F_NOTIFY of fcntl(2), which are refused. A lease delays every process that opens the file
next, including the platform and other boxes.
"""
_FIRST_NAMES_PROCESS = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}
_PRIORITIES = {"setpriority": ((141, 140), 2), "ioprio_set": ((251, 30), 3)}
"""Call that changes priorities -> the numbers of the call on x86_64 and aarch64, and the value of its first argument
that stands for all processes of a user.
"""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""The requests TIOCSTI and TIOCLINUX of ioctl(2), which are refused because they insert input into a terminal."""
_FAMILIES = (0, 1, 2, 10, 16)
"""Allowed address families of sockets: AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. All other families (vsock,
packet, alg, ...) lead out of the box or use rarely tested parts of the kernel.
"""
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0x40000, 0xFFFFFFFF)


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _argument(index: int) -> bytes:
    return _op(_LOAD, 16 + 8 * index)


def _fail(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


_PASS = _op(_RETURN, _ALLOW)


def _only_for(number: int, body: list[bytes]) -> list[bytes]:
    """Return BPF code that runs `body` if the call has this number. `body` ends in a return. For other calls, the code
    continues with the call's number still loaded.
    """
    return [_op(_EQUAL, number, 0, len(body)), *body]


def _one_of(index: int, values: Iterable[int], found: bytes, other: bytes) -> list[bytes]:
    values = list(values)
    tests = [_op(_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [_argument(index), *tests, other, found]


_MOUNTING = "mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick"
BUILDING = frozenset(f"{_MOUNTING} mount_setattr unshare setns sethostname setdomainname".split())
"""System calls that an image build may make and a box may not. A build needs these calls to assemble file systems in
its own namespaces.
"""


def building(machine: str | None = None) -> bytes:
    """Return the system-call filter of an image build. It refuses the same calls as the filter of a box, except the
    calls in BUILDING.
    """
    refused = {name: numbers for name, numbers in _REFUSED.items() if name not in BUILDING}
    code, _ = _refusing(((refused, EPERM), (_ABSENT, ENOSYS)), machine)
    return b"".join([*code, _PASS])


def _refusing(tables: Iterable[tuple[dict[str, tuple[int, int]], int]], machine: str | None) -> tuple[list[bytes], int]:
    """Return the start of a filter in which the calls of each table fail with the errno of the table. Also return the
    column that holds the call numbers of this machine.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHES:
        raise SandboxUnavailable(
            f"no system-call filter is known for {machine}", where="sandbox", next="use a machine of x86_64 or aarch64"
        )
    column = list(_ARCHES).index(machine)
    code = [_op(_LOAD, _ARCH), _op(_EQUAL, _ARCHES[machine], 1, 0), _fail(ENOSYS), _op(_LOAD, _NUMBER)]
    if machine == "x86_64":
        code += [_op(_ABOVE, 0x40000000, 0, 1), _fail(ENOSYS)]
    for table, error in tables:
        for numbers in table.values():
            if numbers[column] >= 0:
                code += _only_for(numbers[column], [_fail(error)])
    return code, column


def program(groups: bool, machine: str | None = None) -> bytes:
    """Return the system-call filter of a box as bytes, 8 per instruction. `groups` says whether control groups count
    the memory of the box.

    Raises SandboxUnavailable on a machine other than x86_64 and aarch64.
    """
    tables = ((_REFUSED, EPERM), (_ABSENT, ENOSYS), ({} if groups else _WITHOUT_GROUPS, ENOSYS))
    code, column = _refusing(tables, machine)
    refuse = _fail(EPERM)
    code += _only_for(_CLONE[column], [_argument(0), _op(_BITS, _NAMESPACES, 0, 1), refuse, _PASS])
    code += _only_for(_IOCTL[column], _one_of(1, _TERMINAL_INPUT, refuse, _PASS))
    code += _only_for(_SOCKET[column], _one_of(0, _FAMILIES, _PASS, _fail(97)))
    code += _only_for(_PERSONALITY[column], _one_of(0, _PERSONALITIES, _PASS, refuse))
    code += _only_for(_PRLIMIT[column], [_argument(0), _op(_EQUAL, 0, 1, 0), refuse, _PASS])
    code += _only_for(_FCNTL[column], _one_of(1, _HELD_FILES, refuse, _PASS))
    # Process 1 is the exec server. If the platform is an ordinary user, commands run as the same user.
    for numbers in _FIRST_NAMES_PROCESS.values():
        code += _only_for(numbers[column], _one_of(0, (1,), refuse, _PASS))
    for numbers, everyone in _PRIORITIES.values():
        code += _only_for(
            numbers[column],
            [_argument(0), _op(_EQUAL, everyone, 2, 0), _argument(1), _op(_EQUAL, 1, 0, 1), refuse, _PASS],
        )
    if not groups:
        # PR_SET_DUMPABLE pretends to succeed: the watchdog could not measure a process that is not dumpable.
        code += _only_for(_PRCTL[column], _one_of(0, (4,), _fail(0), _PASS))
    return b"".join([*code, _PASS])
