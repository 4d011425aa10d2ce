"""The file `suite.lock`: the digest of every task package of a suite. With these digests, changed tasks are
detected.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worksample.files import HashSink
from worksample.files.config_files import Faults, key_of, read_toml, validate
from worksample.records import Frozen, canonical, digest_bytes
from worksample.records.task import Digest

from .package_ingestion import package_manifest
from .package_spec import Package

LOCK = "suite.lock"
_HEAD = "# Digests of the tasks in this suite. Written by `worksample suite pin`; do not edit.\n\n[packages]\n"


class LockTable(Frozen):
    """The content of a `suite.lock`."""

    packages: dict[str, Digest]


def package_digest(package: Package) -> str:
    """Return the digest of a package's manifest, which is also the value of `Task.package`."""
    return digest_bytes(canonical(package_manifest(package, HashSink()).plain()))


def write_lock(folder: Path, packages: Sequence[Package]) -> Path:
    """Write `suite.lock` with the digests of a suite's packages, and return its path. folder: the folder of the
    suite.
    """
    path = folder / LOCK
    lines = [f'"{p.id}" = "{package_digest(p)}"\n' for p in sorted(packages, key=lambda p: p.id)]
    part = path.with_suffix(".part")
    part.write_text(_HEAD + "".join(lines), encoding="utf-8")
    part.rename(path)
    return path


def check_lock(folder: Path, packages: Sequence[Package], faults: Faults) -> None:
    """Add a fault for each package whose digest differs from `suite.lock` or is missing there, and for each digest
    without a package. A missing `suite.lock` is not a fault.
    """
    if not (folder / LOCK).exists():
        return
    document = read_toml(folder / LOCK, LOCK, faults)
    table = None if document.broken else validate(LockTable, document.data, faults, file=LOCK)
    if table is None:
        return
    for package in packages:
        key, now = key_of([package.id], "packages"), package_digest(package)
        pinned = table.packages.get(package.id)
        if pinned is None:
            faults.add(LOCK, key, "is a task of the suite, but is not in the lock")
        elif pinned != now:
            what = f"the task changed since it was pinned (pinned {pinned[:16]}, now {now[:16]})"
            faults.add(LOCK, key, what)
    for gone in table.packages.keys() - {p.id for p in packages}:
        faults.add(LOCK, key_of([gone], "packages"), "is in the lock, but is not a task of the suite")
