"""The cache of seeds: their companies, when each was last used, and their removal."""

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
    """A seed in the cache."""

    id: str
    company: str
    """Name of its company; "" if an older version made the seed and did not store it."""
    services: tuple[str, ...]
    bytes: int
    """Disk space that it takes."""
    used: float
    """When a workplace last started with it (Unix time)."""
    outdated: bool
    """Whether it belongs to other versions of the services or of worksample, so that it will not be used again."""
    in_use: bool
    """Whether a running workplace would return to it on a reset."""


def list_seeds() -> tuple[CachedSeed, ...]:
    """Return all seeds, the last used first."""
    folder = seeds_folder()
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    found = (_describe(folder / name) for name in names)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (-one.used, one.id)))


def unused_seeds(days: float, *, outdated: bool = False) -> tuple[CachedSeed, ...]:
    """Return the seeds unused for so many days, and with `outdated` those that cannot be used any more; none in use."""
    before = time.time() - days * DAY
    return tuple(one for one in list_seeds() if not one.in_use and (one.used < before or (outdated and one.outdated)))


def find_seed(prefix: str) -> CachedSeed:
    """Return the seed whose id begins with a prefix. Raises UsageError if none or several match."""
    found = [one for one in list_seeds() if prefix and one.id.startswith(prefix)]
    if len(found) != 1:
        what = f"{len(found)} seeds begin" if found else "no seed begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample workplace seeds")
    return found[0]


def remove_seed(one: CachedSeed, *, unless_used_after: float | None = None) -> bool:
    """Remove a seed from the cache; it is made again on demand. Returns False if it is gone already, in use, or was
    used after that time.
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
    """Remove what killed processes left in the cache; return the names."""
    return remove_halves(seeds_folder())


def _describe(folder: Path) -> CachedSeed | None:
    """Return a seed's description; None if it was just removed."""
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
