"""Test double of a disk. It simulates a power cut in which everything that was not synced is lost."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from .durable_disk import Disk


class PowerCut(Disk):
    """Disk that records which files below `base` would survive a power cut. `sync` makes the content of a file durable,
    and `sync_folder` the names in a folder.

    The folder `base` itself is always durable. A file whose name is durable and whose content was not synced survives
    as an empty file.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self._contents: dict[int, bytes] = {}
        self._names: dict[Path, dict[str, int]] = {}
        self._lock = threading.Lock()

    def sync(self, fd: int) -> None:
        super().sync(fd)
        content = os.pread(fd, os.fstat(fd).st_size, 0)
        with self._lock:
            self._contents[os.fstat(fd).st_ino] = content

    def sync_folder(self, folder: Path) -> None:
        super().sync_folder(folder)
        names = {entry.name: entry.inode() for entry in os.scandir(folder)}
        with self._lock:
            self._names[folder] = names

    def sync_all(self, folder: Path) -> None:
        super().sync_all(folder)
        for level, _, names in os.walk(self.base):
            for name in names:
                path = Path(level) / name
                found, content = path.stat(), path.read_bytes()
                with self._lock:
                    self._contents[found.st_ino] = content
            names_here = {entry.name: entry.inode() for entry in os.scandir(level)}
            with self._lock:
                self._names[Path(level)] = names_here

    def survivors(self, target: Path) -> None:
        """Write to the new folder `target` what would be left on the disk after a power cut at this moment."""
        self._lay(self.base, target)

    def _lay(self, folder: Path, target: Path) -> None:
        target.mkdir()
        for name, inode in self._names.get(folder, {}).items():
            path = folder / name
            if not path.exists() or path.stat().st_ino != inode:
                continue  # removed or replaced since the last sync: either version may survive
            if stat.S_ISDIR(path.stat().st_mode):
                self._lay(path, target / name)
            else:
                (target / name).write_bytes(self._contents.get(inode, b""))
