"""The cache of seeds: lists the seeds with their companies and times of last use, and removes seeds."""

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
from worksample.files.machine import sign_lock
from worksample.sandboxes.shared_folders import remove_halves

from .seeds import ABOUT, programs_digest, seeds_folder

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class CachedSeed:
    """A seed in the cache, described for lists."""

    id: str
    company: str
    """Name of the seed's company, or "" if an older version of worksample made the seed without storing the name."""
    services: tuple[str, ...]
    bytes: int
    """Disk space of the seed in bytes."""
    used: float
    """Unix time at which a workplace last started with the seed."""
    outdated: bool
    """Whether the seed was made by other versions of the services or of worksample, so that it will not be used
    again.
    """
    in_use: bool
    """Whether a running workplace started with the seed and would need it for a reset."""


def list_seeds() -> tuple[CachedSeed, ...]:
    """Return all seeds in the cache, most recently used first."""
    folder = seeds_folder()
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    found = (_describe(folder / name) for name in names)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (-one.used, one.id)))


def unused_seeds(days: float, *, outdated: bool = False) -> tuple[CachedSeed, ...]:
    """Return the seeds that have not been used for `days` days. If `outdated`, also return the seeds that cannot be
    used any more. Seeds in use are never returned.
    """
    before = time.time() - days * DAY
    return tuple(one for one in list_seeds() if not one.in_use and (one.used < before or (outdated and one.outdated)))


def find_seed(prefix: str) -> CachedSeed:
    """Return the seed whose id begins with `prefix`. Raises UsageError if no seed or several seeds match."""
    found = [one for one in list_seeds() if prefix and one.id.startswith(prefix)]
    if len(found) != 1:
        what = f"{len(found)} seeds begin" if found else "no seed begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample workplace seeds")
    return found[0]


def remove_seed(one: CachedSeed, *, unless_used_after: float | None = None) -> bool:
    """Remove a seed from the cache and return True. A later workplace makes the seed again. Return False without
    removing if the seed is already gone, is in use, or was used after the time `unless_used_after`.
    """
    folder = seeds_folder()
    with (folder / f".{one.id}.lock").open("a", encoding="utf-8") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        sign_lock(making)
        now = _describe(folder / one.id)
        if now is None or now.in_use or (unless_used_after is not None and now.used > unless_used_after):
            return False
        gone = folder / f".{one.id}.new"  # if we are killed here, the rest is removed like an incomplete seed
        shutil.rmtree(gone, ignore_errors=True)
        (folder / one.id).rename(gone)
        shutil.rmtree(gone)
    return True


def remove_orphans() -> list[str]:
    """Remove the unfinished folders that killed processes left in the cache. Return the names of the folders."""
    return remove_halves(seeds_folder())


def _describe(folder: Path) -> CachedSeed | None:
    """Return the description of a seed, or None if the seed was just removed."""
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
    """Return whether any box uses the seed (`worksample.sandboxes.box_holder.lock_images`)."""
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
