"""`suite.lock`: the digest of every package of a suite, so that a changed task does not pass for the one it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worksample.files import HashSink
from worksample.records import canonical, digest_bytes

from .faults import Faults
from .ingest import package_manifest
from .spec import Package
from .table import read_toml

LOCK = "suite.lock"
_HEAD = "# Digests of the tasks in this suite. Written by `worksample suite pin`; do not edit.\n\n[packages]\n"


def package_digest(package: Package) -> str:
    """Digest of a package's manifest: the same that `Task.package` has."""
    return digest_bytes(canonical(package_manifest(package, HashSink()).plain()))


def write_lock(folder: Path, packages: Sequence[Package]) -> Path:
    """Pin the packages of the suite in `folder`."""
    path = folder / LOCK
    lines = [f'"{p.id}" = "{package_digest(p)}"\n' for p in sorted(packages, key=lambda p: p.id)]
    part = path.with_suffix(".part")
    part.write_text(_HEAD + "".join(lines), encoding="utf-8")
    part.rename(path)
    return path


def check_lock(folder: Path, packages: Sequence[Package], faults: Faults) -> None:
    """Faults for packages that differ from their pins, and for pins without package. No lock is no fault."""
    if not (folder / LOCK).exists():
        return
    table = read_toml(folder / LOCK, LOCK, faults)
    pins = table.table("packages", required=True)
    for package in packages:
        pinned = pins.text(package.id, "")
        now = package_digest(package)
        if not pinned:
            pins.fault(package.id, "is not pinned")
        elif pinned != now:
            pins.fault(package.id, f"the task changed since it was pinned (pinned {pinned[:16]}, now {now[:16]})")
    for gone in [name for name in pins.data if name not in pins.asked]:
        pins.has(gone)
        pins.fault(gone, "is pinned, and no task of the suite")
    pins.done()
    table.done()
