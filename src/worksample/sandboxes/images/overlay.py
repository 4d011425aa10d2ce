"""Layers that are unpacked into a separate folder, which becomes the upper layer of an overlay, so that the root need
not be copied. The module also copies roots that share their files.

Some layers depend on the content of the root: a file name below one of its links, or a hard link to one of its files.
These layers raise `NeedsWholeRoot` and must be unpacked into a full copy of the root.
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
    """Error: the layers cannot be unpacked into a folder separate from the root below them."""


class OverlayTree(ImageTree):
    """A folder that will lie over a root as an overlay's upper layer. A removed name becomes an overlay's deletion
    mark.
    """

    def __init__(self, folder: Path, below: Path) -> None:
        folder.chmod(stat.S_IMODE(below.stat().st_mode))
        super().__init__(folder)

    def _folder(self, steps: list[str]) -> int:
        """Return a descriptor of a folder that the layers themselves contain. A folder that only the root contains
        could be a link, and its permissions are unknown.
        """
        with contextlib.suppress(OSError):
            return self.open_folder(steps)
        raise NeedsWholeRoot("/".join(steps))

    def hide(self, above: int, name: str) -> None:
        self.remove(above, name)
        with _needs_marks():
            os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(0, 0), dir_fd=above)

    def make_folder(self, above: int, name: str) -> None:
        """Create a folder. If it replaces a file or a deletion mark, hide the folder of the same name in the root
        below.
        """
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
    """Apply the upper layer `over` of an overlay to a root. Files are hard-linked, not copied. No link is followed."""
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
    """Raise NeedsWholeRoot if the file system or the kernel does not let this user set an overlay's deletion marks."""
    try:
        yield
    except OSError as error:
        raise NeedsWholeRoot(str(error)) from None


def link_tree(source: Path, target: Path) -> None:
    """Copy a root to another folder. The copy shares files with the root by hard links, which is safe because layers
    replace files and never write to them. Raises ImageError.
    """
    try:
        shutil.copytree(source, target, symlinks=True, copy_function=link_file, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise ImageError(
            f"the image's files cannot be copied: {error}",
            where=str(source),
            next="worksample image list, and worksample image remove DIGEST if its disk is full",
        ) from None


def link_file(source: str, target: str) -> str:
    """Create a hard link to a file. Copy the file instead if the folders are on two file systems or the file has too
    many links.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target
