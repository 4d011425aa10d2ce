"""Functions that read or write one regular file with the rights of the caller. They refuse pipes, devices and
folders.
"""

# pathlib and contextlib would add a third to the start-up time of a box.
# ruff: noqa: PTH103, PTH120

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from collections.abc import Callable


O_NEVER_HANG = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
PIECE = 1 << 16


def read_file(path: str, limit: int, give: Callable[[bytes], object]) -> None:
    """Read a regular file and pass its content to `give` in pieces. Raises OSError with EFBIG if the file has more than
    `limit` bytes.
    """
    descriptor = os.open(path, os.O_RDONLY | O_NEVER_HANG)
    try:
        kind = os.fstat(descriptor).st_mode & 0o170000
        if kind == 0o040000:
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        if kind != 0o100000:
            raise OSError(errno.EINVAL, "no regular file")
        total = 0
        while piece := os.read(descriptor, PIECE):
            total += len(piece)
            if total > limit:
                raise OSError(errno.EFBIG, "File too large")
            give(piece)
    finally:
        os.close(descriptor)


def write_file(path: str, mode: int, take: Callable[[], bytes]) -> None:
    """Create or replace a regular file and its parent folders. `take` returns the content in pieces; an empty piece
    marks the end.
    """
    parent = os.path.dirname(path)
    if parent:
        os.makedirs(parent, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | O_NEVER_HANG, mode)
    try:
        if os.fstat(descriptor).st_mode & 0o170000 != 0o100000:
            raise OSError(errno.EINVAL, "no regular file")
        os.ftruncate(descriptor, 0)
        os.fchmod(descriptor, mode)
        while piece := take():
            write_all(descriptor, piece)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data` to a descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
