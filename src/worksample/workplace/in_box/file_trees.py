"""Functions that list trees of files in the services' box, and copy them so that the copy can be changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def walk(tops: tuple[str, ...]) -> Iterator[Path]:
    """Yield every file and folder below the folders `tops`."""
    for top in tops:
        yield from Path(top).rglob("*")


def copy_writable(source: Path, target: Path) -> None:
    """Copy a tree of files so that the new owner can change the copy, whatever modes the original files have."""
    target.mkdir(exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            to = target / entry.name
            if entry.is_dir(follow_symlinks=False):
                copy_writable(Path(entry.path), to)
            elif entry.is_file(follow_symlinks=False):
                shutil.copyfile(entry.path, to)
                to.chmod(0o755 if entry.stat().st_mode & 0o100 else 0o644)
