"""Writing of a manifest's entries to the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from worksample.errors import CaptureError, StoreError, StoreFull
from worksample.records import Entry, EntryKind, Manifest, unquote_path

from .copy_file import WriteFailed, copy_file

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def materialise(
    manifest: Manifest,
    source: Callable[[str], Path],
    target: Path,
    *,
    links: bool = False,
    share: bool = False,
    writable: bool = False,
) -> None:
    """Write a manifest below `target` (created if missing); files of the same names are replaced.

    `source` returns the local file of a blob. With `links`, also write symbolic links that stay inside `target`; other
    links, devices, sockets, pipes and files that were not captured are always left out. With `share`, write hard links
    to the blobs if the file system allows it, for trees that are only mounted read-only; otherwise copies, read-only
    unless `writable`. Never follows an existing link below `target`.

    Raises CaptureError if a path cannot be created, StoreFull if the disk is full, StoreError otherwise.
    """
    if share and writable:
        raise ValueError("a folder that shares its files with the store cannot be writable")
    writer = _Writer(source, target, share, writable)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with writer:
            for entry in manifest.entries:
                if entry.kind is EntryKind.FOLDER:
                    writer.enter(unquote_path(entry.path).split(b"/"))
                elif entry.kind is EntryKind.FILE and entry.blob is not None:
                    writer.file(entry, entry.blob)
            if links:
                for entry in manifest.entries:
                    if entry.kind is EntryKind.LINK:
                        writer.link(entry)
    except WriteFailed as e:
        raise _fault(e.error, target) from e
    except OSError as e:
        raise _fault(e, target) from e


def _fault(e: OSError, target: Path) -> CaptureError | StoreError:
    where, text = str(target), e.strerror or str(e)
    if e.errno in FULL:
        return StoreFull(
            "no space left on the disk to write the files", where=where, next="free some space there, then try again"
        )
    if e.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.EISDIR):
        return CaptureError(
            f"a path of the manifest cannot be created: {text}", where=where, next="worksample store check --deep"
        )
    return StoreError(f"the files cannot be written: {text}", where=where, next="worksample store check --deep")


def stays_inside(path: bytes, target: bytes) -> bool:
    """Return whether a link at `path` with the target text `target` stays inside its tree, whatever the other links
    are.

    Only leading `..` steps are allowed, because they climb real folders. A `..` after a name could climb out of another
    link.
    """
    if not target or target.startswith(b"/") or b"\0" in target:
        return False
    steps = [s for s in target.split(b"/") if s not in (b"", b".")]
    ups = next((i for i, s in enumerate(steps) if s != b".."), len(steps))
    return b".." not in steps[ups:] and ups <= path.count(b"/")


@dataclass
class _Writer:
    """A writer that keeps the folders from `target` to the last entry open, so that a sibling needs only one system
    call.
    """

    source: Callable[[str], Path]
    target: Path
    share: bool
    writable: bool
    open: list[tuple[bytes, int]] = field(default_factory=list)
    root: int = -1

    def __enter__(self) -> _Writer:
        self.root = os.open(self.target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)
        os.close(self.root)

    def _leave(self, depth: int) -> None:
        while len(self.open) > depth:
            os.close(self.open.pop()[1])

    def enter(self, steps: list[bytes]) -> int:
        """Return the open folder at `steps`, created if missing."""
        same = 0
        while same < min(len(steps), len(self.open)) and self.open[same][0] == steps[same]:
            same += 1
        self._leave(same)
        parent = self.open[-1][1] if self.open else self.root
        for step in steps[same:]:
            with suppress(FileExistsError):
                os.mkdir(step, 0o755, dir_fd=parent)
            parent = os.open(step, _FOLDER, dir_fd=parent)
            self.open.append((step, parent))
        return parent

    def file(self, entry: Entry, blob: str) -> None:
        *folders, name = unquote_path(entry.path).split(b"/")
        parent = self.enter(folders)
        _clear(name, parent)
        origin = self.source(blob)
        # A blob's file is not executable, so an executable file needs a copy.
        if self.share and not entry.executable:
            try:
                os.link(origin, name, dst_dir_fd=parent, follow_symlinks=False)
                return
            except OSError as e:
                if e.errno not in (errno.EXDEV, errno.EMLINK, errno.EPERM):
                    raise
        mode = (0o644 if self.writable else 0o444) | (0o111 if entry.executable else 0)
        _copy(origin, name, parent, mode, entry.size)

    def link(self, entry: Entry) -> None:
        path, target = unquote_path(entry.path), unquote_path(entry.target or "")
        if not stays_inside(path, target):
            return
        *folders, name = path.split(b"/")
        parent = self.enter(folders)
        _clear(name, parent)
        os.symlink(target, name, dir_fd=parent)


def _clear(name: bytes, parent: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)


def _copy(origin: Path, name: bytes, parent: int, mode: int, size: int) -> None:
    read = os.open(origin, os.O_RDONLY | os.O_CLOEXEC)
    try:
        write = os.open(name, _NEW, 0o600, dir_fd=parent)
        try:
            copy_file(read, write, size)
            os.fchmod(write, mode)
        finally:
            os.close(write)
    finally:
        os.close(read)
