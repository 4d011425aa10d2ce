"""Capture of the changes to an image's root in a box, as one layer of the OCI image specification 1.1.

The upper layer of the box's overlay file system is read from the host while the box is frozen. No link is followed and
no program is run. Files that the box itself created are left out. File names that an OCI layer would read as a deletion
mark are left out, too.
"""

from __future__ import annotations

import os
import stat
import tarfile
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from worksample.errors import Cause
from worksample.files import ScanLimits, Sink
from worksample.records import CaptureStatus, Entry, Manifest, SubmissionPart
from worksample.stall_tolerant_loop import steady_time
from worksample.store import put_canonical

ROOT_LAYER = "root.tar"
WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"
OWN = frozenset({"dev", "proc", ".old", "etc/hosts", "etc/hostname", "etc/resolv.conf"})
"""Paths that the box creates in every root."""
_OPAQUE_MARKS = ("user.overlay.opaque", "trusted.overlay.opaque")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass
class _LayerWriter:
    """Writer of an OCI layer. `cause` and `reason` say why the layer is incomplete."""

    tar: tarfile.TarFile
    limits: ScanLimits
    until: float
    bytes: int = 0
    files: int = 0
    cause: Cause | None = None
    reason: str = ""
    seen: dict[tuple[int, int], str] = field(default_factory=dict)
    used: float = field(default_factory=time.thread_time)

    def note_fault(self, cause: Cause, reason: str) -> None:
        """Record why the layer is incomplete. Only the first call has an effect."""
        self.cause, self.reason = self.cause or cause, self.reason or reason

    @property
    def is_full(self) -> bool:
        """Return whether the layer has reached a limit, so that nothing more is added."""
        if self.files >= self.limits.files:
            self.note_fault(
                Cause.CAPTURE_TOO_MANY, f"the agent changed more than {self.limits.files:,} files of the root"
            )
        elif self.limits.seconds is not None and time.thread_time() - self.used >= self.limits.seconds:
            self.note_fault(Cause.CAPTURE_TIME, "the time ran out before all changes of the root were captured")
        elif steady_time() > self.until:
            self.note_fault(Cause.CAPTURE_FAILED, "the machine was too busy to capture all changes of the root")
        else:
            return False
        return True

    def add_folder(self, descriptor: int, path: str, depth: int) -> None:
        """Add the content of an open folder to the layer. Raises OSError if the folder itself cannot be read."""
        for name in sorted(os.listdir(descriptor)):
            inner = f"{path}/{name}".lstrip("/")
            if self.is_full:
                return
            if inner in OWN:
                continue
            if name.startswith(WHITEOUT) or depth > self.limits.depth or len(os.fsencode(inner)) > self.limits.path:
                self.note_fault(Cause.CAPTURE_UNREADABLE, f"{inner[:200]!r} cannot be stored in a layer")
                continue
            try:
                self.add_entry(descriptor, name, inner, depth)
            except OSError as error:
                self.note_fault(Cause.CAPTURE_UNREADABLE, f"{inner[:200]!r} cannot be read: {error.strerror}")

    def add_entry(self, above: int, name: str, path: str, depth: int) -> None:
        """Add the file, folder or link `name` of the open folder `above` to the layer. Raises OSError if the entry
        cannot be read.
        """
        self.files += 1
        state = os.stat(name, dir_fd=above, follow_symlinks=False)
        info = tarfile.TarInfo(path)
        info.mode, info.mtime = stat.S_IMODE(state.st_mode) & 0o1777, int(state.st_mtime)
        if stat.S_ISCHR(state.st_mode) and state.st_rdev == 0:
            head, _, last = path.rpartition("/")
            self.tar.addfile(tarfile.TarInfo(f"{head}/{WHITEOUT}{last}".lstrip("/")))
        elif stat.S_ISLNK(state.st_mode):
            info.type, info.linkname = tarfile.SYMTYPE, os.readlink(name, dir_fd=above)
            self.tar.addfile(info)
        elif stat.S_ISREG(state.st_mode):
            self._file(above, name, info, state)
        elif stat.S_ISDIR(state.st_mode):
            self._folder(above, name, info, depth)

    def _folder(self, above: int, name: str, info: tarfile.TarInfo, depth: int) -> None:
        descriptor = os.open(name, _FOLDER, dir_fd=above)
        try:
            info.type = tarfile.DIRTYPE
            self.tar.addfile(info)
            if any(_has_mark(descriptor, mark) for mark in _OPAQUE_MARKS):
                self.tar.addfile(tarfile.TarInfo(f"{info.name}/{OPAQUE}"))
            self.add_folder(descriptor, info.name, depth + 1)
        finally:
            os.close(descriptor)

    def _file(self, above: int, name: str, info: tarfile.TarInfo, state: os.stat_result) -> None:
        first = self.seen.setdefault((state.st_dev, state.st_ino), info.name) if state.st_nlink > 1 else info.name
        if first != info.name:
            info.type, info.linkname = tarfile.LNKTYPE, first
            self.tar.addfile(info)
            return
        if self.bytes + state.st_size > self.limits.bytes:
            self.note_fault(
                Cause.CAPTURE_TOO_LARGE, f"the agent changed more than {self.limits.bytes:,} bytes of the root"
            )
            return
        with os.fdopen(os.open(name, _FILE, dir_fd=above), "rb") as file:
            info.size = os.fstat(file.fileno()).st_size
            self.bytes += info.size
            self.tar.addfile(info, _FixedSizeFile(file, info.size))


class _FixedSizeFile:
    """A file of fixed size: reads deliver the size that the file had when it was opened, even if another process
    changes the file meanwhile.
    """

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def read(self, count: int = -1) -> bytes:
        """Read at most `count` bytes. If the file has become shorter, the missing bytes are zeros."""
        wanted = self._left if count < 0 else min(count, self._left)
        found = self._file.read(wanted)
        self._left -= wanted
        return found.ljust(wanted, b"\0")


def _has_mark(descriptor: int, mark: str) -> bool:
    try:
        return os.getxattr(descriptor, mark) == b"y"
    except OSError:
        return False


def root_changes(upper: Path, sink: Sink, limits: ScanLimits, until: float) -> tuple[SubmissionPart, Cause | None]:
    """Return the part `root` of a submission from the upper layer of an overlay, and the reason why the part is
    incomplete or None.

    After the moment `until` (a value of `steady_time`), nothing more is added. Raises StoreError if the part cannot be
    stored.
    """
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            layer = _LayerWriter(tar, limits, until)
            try:
                descriptor = os.open(upper, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError as error:
                return absent_part(
                    sink, f"the root's changes cannot be reached: {error.strerror}"
                ), Cause.CAPTURE_FAILED
            try:
                layer.add_folder(descriptor, "", 0)
            finally:
                os.close(descriptor)
        size = file.tell()
        file.seek(0)
        blob = sink.put_file(file.fileno(), size)
    manifest = Manifest(entries=(Entry(path=ROOT_LAYER, size=size, blob=blob),))
    status = CaptureStatus.COMPLETE if layer.cause is None else CaptureStatus.PARTIAL
    digest = put_canonical(sink, manifest.plain())
    return SubmissionPart(
        manifest=digest, status=status, reason=layer.reason, files=layer.files, size=size
    ), layer.cause


def add_to_layer(tar: tarfile.TarFile, above: int, name: str, path: str) -> None:
    """Add the entry `name` of the open folder `above` to a layer at `path`: a file, or a folder with all its content.

    Content beyond the usual limits is left out, as in `root_changes`. Raises OSError if the entry cannot be read.
    """
    layer = _LayerWriter(tar, ScanLimits(), steady_time() + 600)
    layer.add_entry(above, name, path, path.count("/"))


def absent_part(sink: Sink, reason: str) -> SubmissionPart:
    """Return an empty part with the reason why nothing could be captured."""
    return SubmissionPart(manifest=put_canonical(sink, Manifest().plain()), status=CaptureStatus.ABSENT, reason=reason)
