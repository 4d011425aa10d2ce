"""System calls that decide what survives a power cut. The store makes all of them through this module."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


class Disk:
    """This machine's disk. The test double `PowerCut` keeps apart what is durable and what is not."""

    def sync(self, fd: int) -> None:
        """Make the content of an open file durable. `sync_folder` makes its name durable."""
        os.fsync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_all(self, folder: Path) -> None:
        """Make everything on the file system of `folder` durable. Faster than syncing many single files."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Not `os.sync`, which waits for all disks of the machine and does not report errors.
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(folder))
        finally:
            os.close(fd)
