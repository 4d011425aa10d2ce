"""Layers that images have in common: what lies unpacked in the cache under one image is what another begins with.

A chain of layers is known by its ChainID (OCI image specification 1.1), which follows from the digests of their tar
streams. Those were held against the streams when the chain was unpacked, so whoever names them gets what they name.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from worksample.errors import ImageError
from worksample.sandboxes.holder import KEPT_AS

from .cache import images_folder, names_folder
from .oci import Layer


@dataclass(frozen=True, slots=True)
class Unpacked:
    """An image of the cache by its layers. What a limit counts is kept, since sharing does not count anew."""

    image: str
    """Its digest."""
    layers: int
    bytes: int
    files: int
    left_out: dict[str, int]


def note(layers: Sequence[Layer], found: Unpacked) -> None:
    """Let other images begin with an unpacked one."""
    ids = _ids(layers)
    if len(ids) == len(layers) and ids:
        names_folder()
        path = _name(ids[-1])
        fresh = path.with_suffix(f".{os.getpid()}.new")
        fresh.write_text(json.dumps(asdict(found)), encoding="utf-8")
        fresh.replace(path)


@contextmanager
def longest(layers: Sequence[Layer]) -> Iterator[tuple[Path, Unpacked] | None]:
    """The root of the image that has most of these layers, from the first on, which stays until the end of the `with`;
    None where there is none."""
    for id in reversed(_ids(layers)):
        try:
            found = Unpacked(**json.loads(_name(id).read_text(encoding="utf-8")))
            lock = (images_folder() / found.image / KEPT_AS).open()
        except FileNotFoundError:
            continue
        with lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if (root := images_folder() / found.image / "root").is_dir():
                yield root, found
                return
    yield None


def share(source: Path, target: Path) -> None:
    """All of a root in a folder of its own, made where it is missing, with the files in both: layers replace files and
    never write to them. Raises ImageError."""
    try:
        shutil.copytree(source, target, symlinks=True, copy_function=_share, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise ImageError(f"the root cannot be shared: {error}", where=str(source)) from None


def _share(source: str, target: str) -> str:
    """One file in two folders; a copy where they lie on two file systems or too many share it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def _name(id: str) -> Path:
    return images_folder() / "names" / f"chain-{id}.json"


def _ids(layers: Sequence[Layer]) -> list[str]:
    """The ChainID of each layer with those below it; they end where a digest is not told."""
    ids: list[str] = []
    for layer in layers:
        if not layer.diff:
            break
        text = layer.diff if not ids else f"sha256:{ids[-1]} {layer.diff}"
        ids.append(layer.diff.removeprefix("sha256:") if not ids else hashlib.sha256(text.encode()).hexdigest())
    return ids
