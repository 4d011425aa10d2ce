"""A folder into which untrusted archives are unpacked. The kernel resolves every path inside the folder (openat2), so
no path leads outside.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Set
from pathlib import Path

from worksample.errors import ImageError
from worksample.sandboxes.box_files_on_host import open_contained

from .image_limits import REBUILD

_FOLDER = os.O_PATH | os.O_DIRECTORY


class ImageTree:
    """A folder into which layers are unpacked. Its methods raise ImageError for names that no file system accepts."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._place = os.readlink(f"/proc/self/fd/{self._root}")  # noqa: PTH115 - no path
        self._last: tuple[str, int, str] | None = None
        """The most recently opened parent folder. It is remembered because archives list their files folder by
        folder.
        """

    def close(self) -> None:
        """Close the folder."""
        self._forget()
        os.close(self._root)

    def _forget(self) -> None:
        if self._last is not None:
            os.close(self._last[1])
            self._last = None

    def parent_folder(self, steps: list[str]) -> tuple[int, str]:
        """Open the folder with these names inside the tree, and create it if missing. Return its descriptor and its
        real path inside the tree.
        """
        path = "/".join(steps)
        if self._last is None or self._last[0] != path:
            self._forget()
            descriptor = self._folder(steps)
            real = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - no path
            self._last = (path, descriptor, real.removeprefix(self._place).strip("/"))
        return self._last[1], self._last[2]

    def _folder(self, steps: list[str]) -> int:
        path = "/".join(steps) or "/"
        with contextlib.suppress(FileNotFoundError):
            return self.open_folder(steps)
        above = self._folder(steps[:-1])
        try:
            os.mkdir(steps[-1], 0o755, dir_fd=above)
        except FileExistsError:
            raise ImageError(
                f"/{path} is a dangling link in one layer and a folder in another", where="image", next=REBUILD
            ) from None
        finally:
            os.close(above)
        return self.open_folder(steps)

    def open_folder(self, steps: list[str]) -> int:
        """Return a descriptor of the existing folder with these names inside the tree. Raises OSError."""
        return open_contained(self._root, "/".join(steps) or "/", _FOLDER)

    def hide(self, above: int, name: str) -> None:
        """Remove the entry `name` of a folder, which a lower layer may have created."""
        self.remove(above, name)

    def make_folder(self, above: int, name: str) -> None:
        """Create a folder. Replace an entry of the same name that is not a folder."""
        self.remove(above, name)
        os.mkdir(name, 0o755, dir_fd=above)

    def remove(self, above: int, name: str) -> None:
        """Remove the entry `name` of a folder without following links. Do nothing if the entry is missing."""
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
                shutil.rmtree(name, dir_fd=above)
            else:
                os.unlink(name, dir_fd=above)

    def link(self, steps: list[str], above: int, name: str) -> None:
        """Create a hard link to a file of the tree. Raises FileNotFoundError if the file is missing."""
        source = self._folder(steps[:-1])
        try:
            if stat.S_ISDIR(os.stat(steps[-1], dir_fd=source, follow_symlinks=False).st_mode):
                raise ImageError(
                    f"a layer has a hard link to the folder /{'/'.join(steps)}", where="image", next=REBUILD
                )
            os.link(steps[-1], name, src_dir_fd=source, dst_dir_fd=above, follow_symlinks=False)
        finally:
            os.close(source)

    def empty(self, above: int, inside: str, kept: Set[str]) -> None:
        """Remove everything in a folder except the paths in `kept` and the folders that lead to these paths. `inside`
        is the real path of the folder inside the tree.
        """
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
        try:
            for name in os.listdir(listed):  # noqa: PTH208 - a descriptor
                path = f"{inside}/{name}".lstrip("/")
                if path not in kept:
                    self.remove(listed, name)
                elif stat.S_ISDIR(os.stat(name, dir_fd=listed, follow_symlinks=False).st_mode):
                    below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=listed)
                    try:
                        self.empty(below, path, kept)
                    finally:
                        os.close(below)
        finally:
            os.close(listed)
