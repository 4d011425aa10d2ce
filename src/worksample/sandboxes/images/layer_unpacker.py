"""Unpacking of one layer over the layers below it, by the OCI image specification 1.1 ("Image Layer Filesystem
Changeset").

One user owns all files in a box, so the owners of files are not restored. Setuid bits, devices, pipes and extended
attributes are left out, because boxes ignore them. The number of left-out entries is counted.
"""

from __future__ import annotations

import errno
import os
import stat
import tarfile
from collections import Counter
from typing import BinaryIO

from worksample.errors import ImageError

from .image_limits import AGAIN, REBUILD
from .image_tree import ImageTree
from .layer_streams import PIECE, SizeBudget

WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"
_HEADER = 1 << 20
"""Maximum bytes of a name or of extended headers in a tar. Larger headers are treated as an attack on this process's
memory.
"""
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LATEST = 1 << 34
"""Latest modification time, in seconds since 1970, that every file system accepts."""


class _LimitedMember(tarfile.TarInfo):
    """A tar header whose extensions are checked against a size limit before they are read."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type not in (*tarfile.REGULAR_TYPES, tarfile.GNUTYPE_SPARSE) and self.size > _HEADER:
            raise ImageError(f"a layer has a header of {self.size:,} bytes", where="image", next=REBUILD)
        return super()._proc_member(tar)  # type: ignore[misc,no-any-return]


class LayerUnpacker:
    """Unpacker of the layers of one image, one layer after the other."""

    def __init__(
        self, tree: ImageTree, bytes: SizeBudget, files: SizeBudget, left_out: Counter[str] | None = None
    ) -> None:
        self._tree, self._bytes, self._files = tree, bytes, files
        self.left_out: Counter[str] = Counter() if left_out is None else left_out
        """Kind of content that boxes ignore -> number of entries that were left out."""

    def unpack(self, stream: BinaryIO) -> None:
        """Unpack the tar stream of one layer. Raises ImageError."""
        made: set[str] = set()
        try:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_LimitedMember, errorlevel=2) as tar:
                for member in tar:
                    self._files.take(1)
                    self._unpack_member(tar, member, made)
                    tar.members.clear()  # type: ignore[attr-defined]
        except (tarfile.TarError, ValueError, OverflowError) as failure:
            raise ImageError(f"a layer is not a valid tar file: {failure}", where="image", next=AGAIN) from None
        except OSError as failure:
            if failure.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise ImageError(f"a file of a layer cannot be unpacked: {failure}", where="image", next=REBUILD) from None

    def _unpack_member(self, tar: tarfile.TarFile, member: tarfile.TarInfo, made: set[str]) -> None:
        steps = _steps(member.name)
        if not steps:
            return
        above, inside = self._tree.parent_folder(steps[:-1])
        name = steps[-1]
        if name == OPAQUE:
            self._tree.empty(above, inside, made)
        elif name.startswith(WHITEOUT):
            hidden = name.removeprefix(WHITEOUT)
            if f"{inside}/{hidden}".lstrip("/") not in made and hidden not in ("", ".", ".."):
                self._tree.hide(above, hidden)
        elif self._make(tar, member, above, name):
            path = f"{inside}/{name}".lstrip("/")
            while path and path not in made:
                made.add(path)
                path = path.rpartition("/")[0]

    def _make(self, tar: tarfile.TarFile, member: tarfile.TarInfo, above: int, name: str) -> bool:
        if not (member.isdir() or member.isreg() or member.issym() or member.islnk()):
            self.left_out["devices and pipes"] += 1
            return False
        if member.isdir():
            self._folder(member, above, name)
            return True
        if member.islnk():
            target = _steps(member.linkname)
            if not target:
                raise ImageError("a layer has a hard link to the root", where="image", next=REBUILD)
            self._tree.remove(above, name)
            self._tree.link(target, above, name)
            return True
        self._tree.remove(above, name)
        if member.issym():
            os.symlink(member.linkname, name, dir_fd=above)
        else:
            self._file(tar, member, above, name)
        return True

    def _folder(self, member: tarfile.TarInfo, above: int, name: str) -> None:
        try:
            there = stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            there = False
        if not there:
            self._tree.make_folder(above, name)
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        try:
            os.fchmod(descriptor, self._mode(member) | 0o700)
        finally:
            os.close(descriptor)

    def _file(self, tar: tarfile.TarFile, member: tarfile.TarInfo, above: int, name: str) -> None:
        source = tar.extractfile(member)
        descriptor = os.open(name, _FRESH, 0o600, dir_fd=above)
        try:
            while source is not None and (piece := source.read(PIECE)):
                self._bytes.take(len(piece) if member.issparse() else 0)
                view = memoryview(piece)
                while view:
                    view = view[os.write(descriptor, view) :]
            os.fchmod(descriptor, self._mode(member) | 0o600)
            moment = min(max(0, int(member.mtime)), _LATEST)
            os.utime(descriptor, (moment, moment))
        finally:
            os.close(descriptor)

    def _mode(self, member: tarfile.TarInfo) -> int:
        if member.mode & 0o6000 and not member.isdir():
            self.left_out["setuid bits"] += 1
        return member.mode & 0o1777


def _steps(name: str) -> list[str]:
    """Return the parts of a path in a tar. `..` never leads above the root."""
    if "\0" in name:
        raise ImageError("a layer has a name with a NUL byte", where="image", next=REBUILD)
    steps: list[str] = []
    for step in name.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    return steps
