"""What lies in the cache of images, and its removal."""

from __future__ import annotations

import fcntl
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import UsageError
from worksample.files.scratch import remove_tree
from worksample.sandboxes.holder import KEPT_AS

from .cache import Cached, cached, images_folder, names_folder

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class UnpackedImage:
    """An unpacked image."""

    image: Cached
    bytes: int
    """That it takes on the disk."""
    files: int
    names: tuple[str, ...]
    """Files of the cache by which a build or a reference is known as this image."""
    in_use: bool
    """Whether a box has it as its root now."""


def kept() -> tuple[UnpackedImage, ...]:
    """All of them, by digest."""
    return tuple(map(_told, _images("")))


def _images(prefix: str) -> list[Cached]:
    """Those whose digest begins so, by digest."""
    names = sorted(path.name for path in images_folder().iterdir() if path.name.startswith(prefix))
    return [image for name in names if _DIGEST.fullmatch(name) and (image := cached(name)) is not None]


def _told(image: Cached) -> UnpackedImage:
    """With what the disk says of it."""
    folder = images_folder() / image.digest
    size, files = _size(folder)
    names = tuple(path.name for path in sorted(names_folder().iterdir()) if _names(path) == image.digest)
    return UnpackedImage(image, size, files, names, _in_use(folder))


def _names(path: Path) -> str:
    """The digest that a reference's or a build's file of the cache leads to; empty where it is unsound."""
    with suppress(OSError, UnicodeError, ValueError, LookupError, TypeError):
        text = path.read_text(encoding="utf-8")
        return str(json.loads(text)["digest"]) if path.suffix == ".json" else text
    return ""


def remove(prefix: str) -> UnpackedImage:
    """Take the image whose digest begins so out of the cache; what needs it brings it again. UsageError where there
    is none, or more than one, or a box has it as its root, or another image lies over it."""
    fitting = _images(prefix) if prefix else []
    if len(fitting) != 1:
        what = f"{len(fitting)} images begin" if fitting else "no image begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample image list")
    one = _told(fitting[0])
    digest, folder = one.image.digest, images_folder()
    with (folder / f".{digest}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _in_use(folder / digest):
            raise UsageError(f"a box is using {digest[:16]} as its root", next="worksample image list")
        own = str(folder / digest / "root")
        above = [other.digest for other in _images("") if other.digest != digest and own in _folders(other)]
        if above:
            raise UsageError(
                f"{len(above)} images are built on {digest[:16]}", next=f"worksample image remove {above[0][:16]}"
            )
        for name in one.names:
            (names_folder() / name).unlink(missing_ok=True)
        gone = folder / f".{digest}.new"  # what a kill leaves of it is removed by the next process
        (folder / digest).rename(gone)
        remove_tree(gone)
    return one


def _folders(image: Cached) -> tuple[str, ...]:
    return (image.root.folder, *image.root.over)


def _in_use(folder: Path) -> bool:
    """Whether a box of anybody's has it as its root."""
    with (folder / KEPT_AS).open(encoding="utf-8") as own:
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
