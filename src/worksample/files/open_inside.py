"""Open a name inside an open folder, even where its mode forbids it, and put the mode back afterwards."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Handle:
    fd: int
    mode: int | None = None
    """The mode to put back on closing; None where it was not touched."""


def open_inside(parent: int, name: bytes, flags: int) -> Handle:
    """Open `name` in the folder `parent` with `flags` (which hold O_NOFOLLOW).

    A file or folder that its owner made unreadable is made readable until it is closed. Raises OSError where that is
    not ours to do.
    """
    try:
        return Handle(os.open(name, flags, dir_fd=parent))
    except PermissionError:
        return _forced(parent, name, flags)


def _forced(parent: int, name: bytes, flags: int) -> Handle:
    # O_PATH names the very inode, so that no exchange of names between the steps can lead elsewhere.
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
    """Close it and put the mode back."""
    try:
        if handle.mode is not None:
            os.fchmod(handle.fd, handle.mode)
    finally:
        os.close(handle.fd)
