"""Scan of an untrusted folder; the result is a manifest.

The walk never leaves the folder: every step is opened relative to the one above it, without following links. Links are
stored as text, and devices, sockets and pipes by name. Files beyond a limit are left out and reported; the rest is
kept.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from worksample.errors import CaptureError, Cause
from worksample.records import CaptureStatus, Entry, EntryKind, Manifest, canonical, path_fault, quote_path
from worksample.stall_tolerant_loop import steady_time

from .content_sink import Sink


@dataclass(frozen=True, slots=True)
class ScanLimits:
    files: int = 100_000
    """Maximum number of entries of any kind."""
    bytes: int = 4 << 30
    """Maximum bytes of all files together."""
    depth: int = 64
    """Maximum depth of nested folders."""
    name: int = 255
    """Maximum bytes of one name."""
    path: int = 3_000
    """Maximum bytes of a path below the folder. Longer paths could not be mounted for a grader."""
    names: int = 32 << 20
    """Maximum characters of all paths and link targets together, because a manifest must fit in memory."""
    seconds: float | None = None
    """Processor time after which the scan stops; None for no limit."""
    backstop: float | None = None
    """Wall-clock time after which the scan stops. On a busy machine this is not the fault of the files' author."""


@dataclass(frozen=True, slots=True)
class Scan:
    manifest: Manifest
    manifest_digest: str
    status: CaptureStatus
    reason: str = ""
    """Why the scan is incomplete; empty if it is complete."""
    cause: Cause | None = None
    """Set if a limit was reached or something could not be read."""


DEFAULT_LIMITS = ScanLimits()


def scan(folder: Path | int, sink: Sink, limits: ScanLimits = DEFAULT_LIMITS) -> Scan:
    """Put a folder's files and its manifest (as canonical JSON) into `sink`.

    `folder` is an open folder, or a path whose last step must not be a link. A missing folder gives an empty manifest
    and `absent`; an exceeded limit or an unreadable file gives `partial` with reason and cause. Raises StoreError if
    the sink cannot store something; no content of the folder makes the scan raise.
    """
    try:
        root = _open_root(folder)
    except OSError as e:
        absent = isinstance(e, FileNotFoundError)
        walk = _Walk(sink, limits, 0)
        if not absent:
            walk.fault(cause_of_unreadable(e), f"the folder cannot be opened: {e.strerror}")
        return walk.result(CaptureStatus.ABSENT, "there is no such folder" if absent else "")
    walk = _Walk(sink, limits, os.fstat(root).st_dev)
    walk.run(root)
    return walk.result(CaptureStatus.COMPLETE, "")


def cause_of_unreadable(error: OSError) -> Cause:
    """Return the cause of an unreadable file: this machine if it lacks resources, otherwise the author of the file."""
    return Cause.CAPTURE_FAILED if error.errno in _OURS else Cause.CAPTURE_UNREADABLE


def read_manifest(data: bytes) -> Manifest:
    """Return a manifest from its stored form. Raises CaptureError if it is malformed."""
    try:
        return Manifest.model_validate_json(data)
    except ValueError as e:
        raise CaptureError(
            f"the blob is not a valid manifest: {str(e).splitlines()[0]}", next="worksample store check --deep"
        ) from e


_OURS = frozenset({errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.EBADF})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def _open_root(folder: Path | int) -> int:
    if isinstance(folder, int):
        return os.open(".", _FOLDER, dir_fd=folder)
    return os.open(folder, _FOLDER)


@dataclass
class _Level:
    handle: Handle
    path: bytes
    names: list[bytes] | None = None
    """Names that are still to be visited, last first; None before the folder is listed."""


@dataclass
class _Walk:
    """The state of one scan."""

    sink: Sink
    limits: ScanLimits
    device: int
    entries: list[Entry] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    cause: Cause | None = None
    partial: bool = False
    taken: int = 0
    named: int = 0
    """Characters of all paths and link targets so far."""
    linked: dict[tuple[int, ...], str] = field(default_factory=dict)
    """Digests of files with several names, by a key that identifies the unchanged file."""
    began: float = field(default_factory=steady_time)
    used: float = field(default_factory=time.thread_time)
    """Processor time of this thread when the scan began."""

    def fault(self, cause: Cause | None, reason: str) -> None:
        """Record that the scan left out an entry. The first cause is kept, but a failure of the platform replaces an
        exceeded limit.
        """
        self.partial = True
        self.faults[reason] = self.faults.get(reason, 0) + 1
        if self.cause is None or cause is Cause.CAPTURE_FAILED:
            self.cause = cause or self.cause

    def run(self, root: int) -> None:
        stack = [_Level(Handle(root), b"")]
        try:
            while stack:
                level = stack[-1]
                if level.names is None:
                    level.names = self._names(level.handle.fd)
                if not level.names:
                    close(stack.pop().handle)
                    continue
                below = self._visit(level, level.names, len(stack))
                if below is not None:
                    stack.append(below)
        finally:
            for level in stack:
                close(level.handle)

    def _names(self, fd: int) -> list[bytes]:
        """Return the names in reverse order; at most one more than the limit allows."""
        room = max(0, self.limits.files - len(self.entries)) + 1
        try:
            with os.scandir(fd) as found:
                return sorted((os.fsencode(e.name) for e in islice(found, room)), reverse=True)
        except OSError as e:
            self.fault(cause_of_unreadable(e), f"a folder cannot be listed: {e.strerror}")
            return []

    def _visit(self, level: _Level, names: list[bytes], depth: int) -> _Level | None:
        name = names.pop()
        path = level.path + b"/" + name if level.path else name
        full = self._full()
        if full is not None:
            names.clear()
            self.fault(*full)
            return None
        if len(name) > self.limits.name or len(path) > self.limits.path:
            self.fault(Cause.CAPTURE_TOO_MANY, "a file was left out: its name or path is too long")
            return None
        text = quote_path(path)
        if path_fault(text):
            self.fault(None, "a file was left out: its name cannot be part of a path")
            return None
        try:
            return self._take(level.handle.fd, name, path, text, depth)
        except OSError as e:
            note = f"cannot be read: {e.strerror or e}"
            self._keep(Entry(path=text, kind=EntryKind.OTHER, note=note))
            self.fault(cause_of_unreadable(e), note)
        return None

    def _full(self) -> tuple[Cause, str] | None:
        """Return why the scan must stop, or None."""
        limits = self.limits
        if len(self.entries) >= limits.files:
            return Cause.CAPTURE_TOO_MANY, f"more than {limits.files:,} entries, the rest is left out"
        if self.named >= limits.names:
            return Cause.CAPTURE_TOO_MANY, f"more than {limits.names:,} characters of names, the rest is left out"
        if limits.seconds is not None and time.thread_time() - self.used >= limits.seconds:
            return Cause.CAPTURE_TIME, f"not done after {limits.seconds:g} seconds, the rest is left out"
        if limits.backstop is not None and steady_time() - self.began >= limits.backstop:
            return Cause.CAPTURE_FAILED, "the machine was too busy to take everything in"
        return None

    def _keep(self, entry: Entry) -> None:
        self.named += len(entry.path) + len(entry.target or "")
        self.entries.append(entry)

    def _take(self, parent: int, name: bytes, path: bytes, text: str, depth: int) -> _Level | None:
        info = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            return self._folder(parent, name, path, text, depth)
        if stat.S_ISLNK(info.st_mode):
            target = quote_path(os.readlink(name, dir_fd=parent))
            self._keep(Entry(path=text, kind=EntryKind.LINK, target=target))
        elif stat.S_ISREG(info.st_mode):
            self._file(parent, name, text, info.st_size)
        else:
            self._keep(Entry(path=text, kind=EntryKind.OTHER, note=_KINDS.get(stat.S_IFMT(info.st_mode), "")))
        return None

    def _folder(self, parent: int, name: bytes, path: bytes, text: str, depth: int) -> _Level | None:
        note = ""
        if depth >= self.limits.depth:
            note = f"deeper than {self.limits.depth} folders, its contents are left out"
        handle = None if note else open_inside(parent, name, _FOLDER)
        if handle is not None and os.fstat(handle.fd).st_dev != self.device:
            close(handle)
            handle, note = None, "another file system is mounted here, its contents are left out"
        self._keep(Entry(path=text, kind=EntryKind.FOLDER, note=note))
        if handle is None:
            self.fault(Cause.CAPTURE_TOO_MANY if "deeper" in note else None, note)
            return None
        return _Level(handle, path)

    def _file(self, parent: int, name: bytes, text: str, size: int) -> None:
        if size > self.limits.bytes - self.taken:
            note = f"exceeds the {self.limits.bytes:,} bytes that are taken in"
            self._keep(Entry(path=text, size=size, note=note))
            self.fault(Cause.CAPTURE_TOO_LARGE, f"a file {note}")
            return
        handle = open_inside(parent, name, _FILE)
        try:
            before = os.fstat(handle.fd)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(0, "it changed its kind")
            known = self.linked.get(_same(before)) if before.st_nlink > 1 else None
            digest = known or self.sink.put_file(handle.fd, min(before.st_size, self.limits.bytes - self.taken))
            read = before.st_size if known else os.lseek(handle.fd, 0, os.SEEK_CUR)
            after = os.fstat(handle.fd)
        finally:
            close(handle)
        note = ""
        if read != after.st_size or after.st_mtime_ns != before.st_mtime_ns:
            note = "changed while it was read"
            self.fault(None, f"a file {note}")
        elif before.st_nlink > 1:
            self.linked[_same(after)] = digest
        self.taken += read
        executable = bool(before.st_mode & stat.S_IXUSR)
        self._keep(Entry(path=text, size=read, blob=digest, executable=executable, note=note))

    def result(self, status: CaptureStatus, reason: str) -> Scan:
        manifest = Manifest(entries=tuple(sorted(self.entries, key=lambda e: e.path)))
        if self.partial:
            status = CaptureStatus.PARTIAL if status is CaptureStatus.COMPLETE else status
            reason = "; ".join(f"{text} ({n} times)" if n > 1 else text for text, n in self.faults.items())
        return Scan(manifest, self.sink.put(canonical(manifest.plain())), status, reason, self.cause)


def _same(found: os.stat_result) -> tuple[int, ...]:
    """Return a key that is equal for all names of one unchanged file."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


@dataclass(frozen=True, slots=True)
class Handle:
    fd: int
    mode: int | None = None
    """The mode to restore on closing; None if it was not changed."""


def open_inside(parent: int, name: bytes, flags: int) -> Handle:
    """Open `name` in the folder `parent` with `flags` (which include O_NOFOLLOW).

    An unreadable file or folder of this user is made readable until it is closed. Raises OSError if another user owns
    it.
    """
    try:
        return Handle(os.open(name, flags, dir_fd=parent))
    except PermissionError:
        return _open_unreadable(parent, name, flags)


def _open_unreadable(parent: int, name: bytes, flags: int) -> Handle:
    # O_PATH pins the inode, so that renaming between the steps cannot redirect the walk.
    anchor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(anchor).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise PermissionError(13, "Permission denied")
        way = f"/proc/self/fd/{anchor}"
        Path(way).chmod(stat.S_IMODE(mode) | stat.S_IRUSR | (stat.S_IXUSR if stat.S_ISDIR(mode) else 0))
        return Handle(os.open(way, flags & ~os.O_NOFOLLOW), stat.S_IMODE(mode))
    finally:
        os.close(anchor)


def close(handle: Handle) -> None:
    """Close the handle and restore the mode."""
    try:
        if handle.mode is not None:
            os.fchmod(handle.fd, handle.mode)
    finally:
        os.close(handle.fd)
