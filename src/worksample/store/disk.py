"""The calls that decide what a power cut leaves: every one of the store's goes through here, in plain sight."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


class Disk:
    """The machine's own. `PowerCut` is one that keeps what was made durable apart from what was not."""

    def sync(self, fd: int) -> None:
        """Make an open file's content durable. Its name is the folder's affair."""
        os.fsync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_all(self, folder: Path) -> None:
        """Make all that lies on the file system of `folder` durable: quicker than many files one by one."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Not `os.sync`, which waits for every disk of the machine and says nothing where one of them failed.
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(folder))
        finally:
            os.close(fd)
