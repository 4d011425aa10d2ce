"""The seeds in the cache: which companies they are of, when one was last begun with, and their removal."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import UsageError
from worksample.sandboxes.shared_folders import remove_halves

from .seeds import ABOUT, programs_digest, seeds_folder

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class CachedSeed:
    """One of them."""

    id: str
    company: str
    """Its name; "" where an older version made the seed, which kept none."""
    services: tuple[str, ...]
    bytes: int
    """That it takes on the disk."""
    used: float
    """When a workplace last began with it."""
    outdated: bool
    """Whether it is of other versions of the services, or of worksample: nothing here begins with it again."""
    in_use: bool
    """Whether a workplace stands that begins with it after a reset."""


def list_seeds() -> tuple[CachedSeed, ...]:
    """All of them, the last used first."""
    folder = seeds_folder()
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    found = (_describe(folder / name) for name in names)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (-one.used, one.id)))


def unused_seeds(days: float, *, outdated: bool = False) -> tuple[CachedSeed, ...]:
    """Those that nothing began with for so many days, and with `outdated` those that nothing can; none in use."""
    before = time.time() - days * DAY
    return tuple(one for one in list_seeds() if not one.in_use and (one.used < before or (outdated and one.outdated)))


def find_seed(prefix: str) -> CachedSeed:
    """The one whose id begins so. UsageError where there is none, or more than one."""
    found = [one for one in list_seeds() if prefix and one.id.startswith(prefix)]
    if len(found) != 1:
        what = f"{len(found)} seeds begin" if found else "no seed begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample workplace seeds")
    return found[0]


def remove_seed(one: CachedSeed, *, unless_used_after: float | None = None) -> bool:
    """Take it out of the cache; whoever wants it makes it again. False where it is gone already, is in use by now, or
    was begun with after that time.
    """
    folder = seeds_folder()
    with (folder / f".{one.id}.lock").open("w", encoding="utf-8") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        now = _describe(folder / one.id)
        if now is None or now.in_use or (unless_used_after is not None and now.used > unless_used_after):
            return False
        gone = folder / f".{one.id}.new"  # what a kill leaves of it is removed as the half of one is
        shutil.rmtree(gone, ignore_errors=True)
        (folder / one.id).rename(gone)
        shutil.rmtree(gone)
    return True


def remove_orphans() -> list[str]:
    """Remove what makers and removers that were killed left; their names."""
    return remove_halves(seeds_folder())


def _describe(folder: Path) -> CachedSeed | None:
    """None for one that is just removed."""
    try:
        about = folder / ABOUT
        known = about.is_file()
        said = json.loads(about.read_text(encoding="utf-8")) if known else {}
        used = (about if known else folder).stat().st_mtime
    except (OSError, ValueError):
        return None
    services = tuple(said.get("services", ()))
    outdated = said.get("programs") != programs_digest(services) if known else True
    return CachedSeed(
        folder.name, str(said.get("company", "")), services, _size(folder), used, outdated, known and _in_use(about)
    )


def _in_use(about: Path) -> bool:
    """Whether a box of anybody's has it (`worksample.sandboxes.holder.claim`)."""
    try:
        with about.open(encoding="utf-8") as own:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _size(folder: Path) -> int:
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += (Path(parent) / name).lstat().st_blocks * 512
    return size
