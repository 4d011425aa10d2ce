"""System calls that decide which data survive a power cut. The store makes all calls of this kind through this
module.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


class Disk:
    """Disk of this machine. Its test double `PowerCut` records which data are durable."""

    def sync(self, fd: int) -> None:
        """Make the content of an open file durable. The name of the file becomes durable by `sync_folder`."""
        os.fsync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Make the names of the files in a folder durable."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_all(self, folder: Path) -> None:
        """Make everything on the file system of `folder` durable. This is faster than syncing many files one by one."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Not `os.sync`, which waits for all disks of the machine and does not report errors.
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(folder))
        finally:
            os.close(fd)
