"""Functions that read a box's files from the host when the box's exec server cannot answer. No link can lead out of the
box.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from pathlib import Path

_OPENAT2 = 437
_NO_MAGICLINKS, _IN_ROOT = 0x02, 0x10


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_contained(root: int, path: str, flags: int) -> int:
    """Open `path` below the folder descriptor `root` with openat2(2), so that neither links nor `..` lead out of that
    folder. Raises OSError.
    """
    how = _How(flags | os.O_CLOEXEC, 0, _IN_ROOT | _NO_MAGICLINKS)
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(libc.syscall(_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how)))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return result


def has_openat2() -> bool:
    """Return whether the kernel has the system call openat2 (Linux 5.6 and later)."""
    try:
        os.close(open_contained(os.open("/", os.O_PATH | os.O_CLOEXEC), "/", os.O_PATH))
    except OSError as failure:
        return failure.errno != errno.ENOSYS
    return True


def read_contained(root: int, own: int, path: str, limit: int) -> bytes:
    """Return the content of the regular file at `path` below `root`. The file must lie on the same file system as the
    folder `own`.

    The condition about the file system keeps the privileged reader out of /proc and of everything mounted into the box.
    Raises the same OSErrors as `Box.read`.
    """
    found = open_contained(root, path, os.O_PATH)
    try:
        state = os.fstat(found)
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if state.st_dev != os.fstat(own).st_dev:
            raise PermissionError(errno.EACCES, "the path is not in a writable folder of the box", path)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        with Path(f"/proc/self/fd/{found}").open("rb") as file:
            data = file.read(limit + 1)
    finally:
        os.close(found)
    if len(data) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data
