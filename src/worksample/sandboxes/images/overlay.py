"""Layers unpacked beside a root, in the form that an overlay has for what lies over it: the root itself is not copied.

What layers say of a root can hang on what lies there: a name below one of its links, a hard link to one of its files.
Such layers are told by `NotApart`, and need a root of their own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Set
from pathlib import Path

from worksample.errors import ImageError

from .image_tree import ImageTree

_OPAQUE = "trusted.overlay.opaque" if os.geteuid() == 0 else "user.overlay.opaque"


class NeedsWholeRoot(Exception):
    """These layers cannot be unpacked without the root below them."""


class OverlayTree(ImageTree):
    """A folder that will lie over a root. Removed names become an overlay's marks."""

    def __init__(self, folder: Path, below: Path) -> None:
        folder.chmod(stat.S_IMODE(below.stat().st_mode))
        super().__init__(folder)

    def _folder(self, steps: list[str]) -> int:
        """Only folders that a layer has itself: others could be links below, and their rights are not known here."""
        with contextlib.suppress(OSError):
            return self.open_folder(steps)
        raise NeedsWholeRoot("/".join(steps))

    def hide(self, above: int, name: str) -> None:
        self.remove(above, name)
        with _needs_marks():
            os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(0, 0), dir_fd=above)

    def make_folder(self, above: int, name: str) -> None:
        """One in the place of a file or of a mark is no longer the one below."""
        try:
            os.mkdir(name, 0o755, dir_fd=above)
        except FileExistsError:
            self.remove(above, name)
            os.mkdir(name, 0o755, dir_fd=above)
            self._close_off(name, above)

    def link(self, steps: list[str], above: int, name: str) -> None:
        source = self._folder(steps[:-1])
        try:
            state = os.stat(steps[-1], dir_fd=source, follow_symlinks=False)
        except FileNotFoundError:
            raise NeedsWholeRoot("/".join(steps)) from None
        finally:
            os.close(source)
        if stat.S_ISCHR(state.st_mode):
            raise NeedsWholeRoot("/".join(steps))
        super().link(steps, above, name)

    def empty(self, above: int, inside: str, kept: Set[str]) -> None:
        super().empty(above, inside, kept)
        self._close_off(".", above)

    def _close_off(self, name: str, above: int) -> None:
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        try:
            with _needs_marks():
                os.setxattr(descriptor, _OPAQUE, b"y")
        finally:
            os.close(descriptor)


def apply_overlay(over: Path, root: Path) -> None:
    """Do to a root what a folder that lies over it says; files are shared with it. Nothing is followed."""
    if _is_opaque(over):
        for path in root.iterdir():
            _remove(path)
    root.chmod(stat.S_IMODE(over.stat().st_mode))
    for entry in os.scandir(over):
        target, mode = root / entry.name, entry.stat(follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode) or target.is_symlink() or not target.is_dir():
            _remove(target)
        if stat.S_ISDIR(mode):
            target.mkdir(exist_ok=True)
            apply_overlay(Path(entry.path), target)
        elif not stat.S_ISCHR(mode):
            link_file(entry.path, str(target))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _is_opaque(folder: Path) -> bool:
    try:
        return os.getxattr(folder, _OPAQUE) == b"y"
    except OSError:
        return False


@contextlib.contextmanager
def _needs_marks() -> Iterator[None]:
    """A file system or a kernel that has no such marks for this user."""
    try:
        yield
    except OSError as error:
        raise NeedsWholeRoot(str(error)) from None


def link_tree(source: Path, target: Path) -> None:
    """All of a root in a folder of its own, which is made where it is missing. Raises ImageError."""
    try:
        shutil.copytree(source, target, symlinks=True, copy_function=link_file, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise ImageError(
            f"the root cannot be shared: {error}",
            where=str(source),
            next="worksample image list, and worksample image remove DIGEST if its disk is full",
        ) from None


def link_file(source: str, target: str) -> str:
    """One file in two folders; a copy where they lie on two file systems, or too many share it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target
