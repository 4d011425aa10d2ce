"""What lies in the cache of images, and its removal."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import UsageError
from worksample.sandboxes.holder import KEPT_AS

from .cache import Cached, cached, images_folder, names_folder

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Kept:
    """An unpacked image."""

    image: Cached
    bytes: int
    """That it takes on the disk."""
    files: int
    names: tuple[str, ...]
    """Files of the cache by which a build or a reference is known as this image."""
    in_use: bool
    """Whether a box has it as its root now."""


def kept() -> tuple[Kept, ...]:
    """All of them, by digest."""
    names: dict[str, list[str]] = {}
    for path in sorted(names_folder().iterdir()):
        with suppress(OSError, UnicodeError):
            names.setdefault(path.read_text(encoding="ascii"), []).append(path.name)
    found = []
    for folder in sorted(images_folder().iterdir()):
        image = cached(folder.name) if _DIGEST.fullmatch(folder.name) else None
        if image is not None:
            size, files = _size(folder)
            found.append(Kept(image, size, files, tuple(names.get(folder.name, ())), _in_use(folder)))
    return tuple(found)


def remove(prefix: str) -> Kept:
    """Take the image whose digest begins so out of the cache; what needs it brings it again. UsageError where there
    is none, or more than one, or a box has it as its root."""
    fitting = [one for one in kept() if one.image.digest.startswith(prefix)] if prefix else []
    if len(fitting) != 1:
        what = f"{len(fitting)} images begin" if fitting else "no image begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample image list")
    one = fitting[0]
    digest, folder = one.image.digest, images_folder()
    with (folder / f".{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _in_use(folder / digest):
            raise UsageError(f"a box has {digest[:16]} as its root", next="worksample image list")
        for name in one.names:
            (names_folder() / name).unlink(missing_ok=True)
        gone = folder / f".{digest}.new"  # what a kill leaves of it is removed by the next process
        (folder / digest).rename(gone)
        _remove(gone)
    return one


def _in_use(folder: Path) -> bool:
    """Whether a box of anybody's has it as its root."""
    with (folder / KEPT_AS).open() as own:
        try:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _size(folder: Path) -> tuple[int, int]:
    size = files = 0
    for parent, _, names in os.walk(folder / "root"):
        for name in names:
            with suppress(OSError):
                size += (Path(parent) / name).lstat().st_blocks * 512
                files += 1
    return size, files


def _remove(folder: Path) -> None:
    for parent, below, _ in os.walk(folder):
        for path in (Path(parent) / name for name in below):
            if not path.is_symlink():
                with suppress(OSError):
                    path.chmod(0o700)
    shutil.rmtree(folder)
