"""List of a checkout's packages and instances: each package's `load()` runs in a box of its own, twice, and the results
are compared.

A package is foreign code. Its box holds the checkout's `tasks/` folder (read-only), the standard library, a stand-in
for `cua_bench`, and nothing else. Libraries that `main.py` imports are replaced by names without meaning (`in_box`).
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.box import Box, BoxConfig, BoxLimits, FairTimeout, Mount
from worksample.errors import ForeignInputError, SandboxError
from worksample.files.untrusted.json_limits import JsonLimits, read_json
from worksample.formats.package_writer import plain_name
from worksample.sandboxes import open_box
from worksample.sandboxes.python_toolbox import base_python

from .checkout import AlePackage

TASKS, IN_BOX = "/ale/checkout/tasks", "/ale/platform/in_box"
SECONDS = 20.0
"""Time of one call of `load()`, with the import of `main.py`."""
MOST_INSTANCES = 1000
"""Largest number of instances of one package."""
LISTING_LIMITS = JsonLimits(size=16 << 20, values=400_000, depth=32)
_LIMITS = BoxLimits(memory=1 << 30, processes=32, disk=64 << 20, files=2_000, output=1 << 20)
_HASH_SEEDS = ("1", "2")
"""Seeds of the two calls: what depends on the order of a set shows."""
FOLDERS = {
    "input": "input_dir",
    "software": "software_dir",
    "output": "remote_output_dir",
    "reference": "reference_dir",
}
"""Our name of a folder -> its key in a task's metadata."""


@dataclass(frozen=True, slots=True)
class AleInstance:
    """An element of a package's `load()`."""

    index: int
    name: str
    description: str
    system: str
    """`linux`, `windows`, or "" if the package names neither."""
    metadata: Mapping[str, Any]
    digest: str
    """Digest of description, metadata and computer."""

    @property
    def paths(self) -> dict[str, str]:
        """Folder (input, software, output, reference) -> its path, as the package says."""
        found = {name: self.metadata.get(key) for name, key in FOLDERS.items()}
        return {name: path for name, path in found.items() if isinstance(path, str)}

    @property
    def needs_data(self) -> bool:
        """True if files outside the checkout belong to the instance."""
        return self.metadata.get("requires_task_data") is not False


@dataclass(frozen=True, slots=True)
class AleListing:
    """A package with its instances, or with the reason why it cannot be used."""

    package: AlePackage
    instances: tuple[AleInstance, ...] = ()
    fault: str = ""
    """Why `load()` gave no instances, or two calls gave different ones; "" if neither."""
    absent: tuple[str, ...] = field(default=())
    """Libraries that `main.py` imports."""
    starts: Mapping[str, str] = field(default_factory=dict)
    """Linux instance -> why `start()` failed without data; "" if it did not."""


async def list_package(
    package: AlePackage, checkout: Path, *, sandbox: str = "bubblewrap", seconds: float = SECONDS
) -> AleListing:
    """Run `load()` twice in a box, and compare. Raises SandboxError if the box fails."""
    config = package_box(checkout)
    found: list[dict[str, Any]] = []
    async with open_box(config, kind=sandbox) as box:
        for seed in _HASH_SEEDS:
            try:
                found.append(await _call_load(box, package.place, seed, seconds))
            except _LoadFailed as fault:
                return AleListing(package, fault=str(fault))
            await box.clear()
    first, second = found
    unlike = f"two calls of load() differ: {_difference(first, second)}" if _digest(first) != _digest(second) else ""
    return AleListing(package, _instances(first["instances"]), unlike, tuple(map(str, first.get("absent", ()))))


def package_box(checkout: Path, writable: tuple[str, ...] = ()) -> BoxConfig:
    """Return the box in which a package's code runs at import. writable: folders that this code may write to."""
    return BoxConfig(
        mounts=(
            Mount(str((checkout / "tasks").resolve()), TASKS),
            Mount(str(Path(__file__).parent / "in_box"), IN_BOX),
        ),
        writable=writable, env=(("PYTHONDONTWRITEBYTECODE", "1"),), limits=_LIMITS, python="none", label="import ale",
    )  # fmt: skip


class _LoadFailed(Exception):
    """A package that cannot be listed, with the reason."""


async def _call_load(box: Box, place: str, seed: str, seconds: float) -> dict[str, Any]:
    """Call `load()` once and return its result. Raises _LoadFailed, and SandboxError if the box fails."""
    target = f"{box.config.output}/listing-{seed}.json"
    places = [IN_BOX, posixpath.dirname(IN_BOX)]  # the stand-in for `cua_bench`, and the package `in_box`
    code = f"import sys; sys.path[:0] = {places!r}; from in_box.list_instances import main; main()"
    arguments = [posixpath.dirname(TASKS), f"tasks/{place}", target, str(MOST_INSTANCES)]
    done = await box.run(
        [str(base_python()), "-S", "-B", "-P", "-c", code, *arguments],
        env={"PYTHONHASHSEED": seed}, timeout=FairTimeout(seconds),
    )  # fmt: skip
    if done.starved:
        raise SandboxError(
            "the machine was too busy to list a package", where=place, next="free some of this machine, then try again"
        )
    if done.timed_out:
        raise _LoadFailed(f"load() did not end within {seconds:g} seconds")
    if done.oom:
        raise _LoadFailed(f"load() needed more than {_LIMITS.memory:,} bytes of memory")
    try:
        data = await box.read(target, LISTING_LIMITS.size)
        result = await asyncio.to_thread(read_json, data, LISTING_LIMITS, "what load() returned")
    except ForeignInputError as fault:
        raise _LoadFailed(fault.what) from fault
    except OSError as fault:
        size = f"what load() returned has more than {LISTING_LIMITS.size:,} bytes"
        left = f"load() ended the program (exit code {done.returncode})"
        raise _LoadFailed(size if fault.errno == errno.EFBIG else left) from fault
    return _require_listing(result)


def _require_listing(result: Any) -> dict[str, Any]:
    """Return the result if it has the form of a listing. Raises _LoadFailed."""
    if not isinstance(result, dict):
        raise _LoadFailed("load() did not return a list of tasks")
    if "failed" in result:
        raise _LoadFailed(f"load() failed: {result['failed']}")
    count, instances = result.get("count"), result.get("instances")
    if isinstance(count, int) and count > MOST_INSTANCES:
        raise _LoadFailed(f"load() returned {count:,} instances; at most {MOST_INSTANCES:,} are imported")
    if not isinstance(instances, list) or len(instances) > MOST_INSTANCES:
        raise _LoadFailed("load() did not return a list of tasks")
    if not instances:
        raise _LoadFailed("load() returned no instances")
    for one in instances:
        fits = isinstance(one, dict) and isinstance(one.get("description"), str)
        if not fits or not isinstance(one.get("metadata"), dict) or not isinstance(one.get("computer"), dict):
            raise _LoadFailed("load() returned a task whose metadata or computer is not a dictionary")
    return result


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Say in which number or key two results differ."""
    one, other = first["instances"], second["instances"]
    if len(one) != len(other):
        return f"{len(one)} and {len(other)} instances"
    for number, (left, right) in enumerate(zip(one, other, strict=True)):
        for key in ("description", "computer"):
            if left[key] != right[key]:
                return f"{key} of instance {number}"
        for key in {**left["metadata"], **right["metadata"]}:
            if left["metadata"].get(key) != right["metadata"].get(key):
                return f"metadata {key!r} of instance {number}"
    return "the libraries that main.py imports"


def _instances(found: Sequence[Mapping[str, Any]]) -> tuple[AleInstance, ...]:
    names: list[str] = []
    instances = []
    for index, one in enumerate(found):
        name = _name(one["metadata"], index, names)
        names.append(name)
        instances.append(
            AleInstance(index, name, one["description"].strip(), _system(one), one["metadata"], _digest(one))
        )
    return tuple(instances)


def _name(metadata: Mapping[str, Any], index: int, taken: Sequence[str]) -> str:
    """Return a name for an instance: its variant's, if no other has it."""
    given = metadata.get("variant_name")
    name = plain_name(given) if isinstance(given, str) and given else f"instance-{index}"
    return name if name not in taken else f"{name}-{index}"


def _system(one: Mapping[str, Any]) -> str:
    """Return the operating system that a task names, or that its paths show."""
    settings = one["computer"].get("setup_config")
    named = settings.get("os_type") if isinstance(settings, dict) else None
    if isinstance(named, str) and named:
        return named.lower()
    folder = one["metadata"].get("task_dir")
    if isinstance(folder, str):
        return "windows" if "\\" in folder else "linux"
    return ""
