"""The system calls that decide what survives a power cut. The store makes all of them through this module."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


class Disk:
    """This machine's disk. The test double `PowerCut` separates durable contents from others."""

    def sync(self, fd: int) -> None:
        """Make an open file's content durable; for its name see `sync_folder`."""
        os.fsync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_all(self, folder: Path) -> None:
        """Make everything on the file system of `folder` durable: quicker than many single files."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Not `os.sync`, which waits for every disk of the machine and says nothing where one of them failed.
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(folder))
        finally:
            os.close(fd)
