"""One root in two folders: the files are the same ones, since layers replace files and never write to them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from worksample.errors import ImageError


def share(source: Path, target: Path) -> None:
    """All of a root in a folder of its own, which is made where it is missing. Raises ImageError."""
    try:
        shutil.copytree(source, target, symlinks=True, copy_function=link, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise ImageError(
            f"the root cannot be shared: {error}",
            where=str(source),
            next="worksample image list, and worksample image remove DIGEST if its disk is full",
        ) from None


def link(source: str, target: str) -> str:
    """One file in two folders; a copy where they lie on two file systems, or too many share it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target
