"""Suites: a `suite.toml` lists tasks and tiers, and `suite.lock` contains the digests of the tasks. Some suites are
part of Worksample and are found by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from worksample.box import is_host_name
from worksample.errors import ManifestError
from worksample.files import Sink
from worksample.files.config_files import (
    AllowedText,
    Faults,
    FaultyManifest,
    Line,
    Texts,
    nearest,
    read_toml,
    show_value,
    validate,
    value_fault,
)
from worksample.records import Frozen, HostLists, Instance, Suite, Task, Tier, digest_of

from .instances import TaskName
from .package import Version, read_package
from .package_files import path_problem
from .package_ingestion import Ingested, ingest
from .package_spec import Package
from .suite_lock import check_lock, write_lock


def _check_listed_host(text: str) -> str:
    name, sign, port = text.partition(":")
    sound = name == "*" or (
        is_host_name(name.removeprefix("*.")) and (not name.startswith("*.") or name.count(".") > 1)
    )
    if not sound or (sign and not re.fullmatch(r"[1-9][0-9]{0,4}", port)) or int(port or 1) > 65535:
        raise value_fault()
    return text


Listed = Annotated[
    str,
    AfterValidator(_check_listed_host),
    AllowedText("a host's name in lower case, '*.' and one, or '*', with ':PORT' or not"),
]


class HostsTable(HostLists):
    """The table `[hosts]` of `suite.toml`."""

    allow: tuple[Listed, ...] = ()
    block: tuple[Listed, ...] = ()


class SuiteTable(Frozen):
    """The keys of `suite.toml`, without the tiers. Tiers are validated after the tasks were read."""

    name: TaskName
    title: Line
    version: Version
    visibility: Literal["public", "private"] = "public"
    roles: dict[str, Annotated[Line, AllowedText("a model's name, such as 'openai/gpt-5'")]] = {}
    tasks: Texts = ()
    hosts: HostsTable = HostsTable()


class TierTable(Frozen):
    """The table `[[tier]]` of `suite.toml`."""

    name: TaskName
    tasks: Texts = ()
    instances: Texts = ()


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite as it was read, with all its task packages."""

    path: Path
    """Path of the `suite.toml`, or of the folder of a single task that is treated as a suite."""
    name: str
    title: str
    version: str
    visibility: str
    roles: Mapping[str, str]
    packages: tuple[Package, ...]
    tiers: tuple[tuple[str, tuple[str, ...]], ...]
    """The tiers in order, each with the keys (`task/instance`) of its instances."""
    hosts: HostLists | None = None
    """Hosts that the suite allows or blocks, within the hosts that the operator allows. None if the suite has no such
    lists.
    """

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys (`task/instance`) of all instances, in the order of the suite."""
        return tuple(f"{p.id}/{i.name}" for p in self.packages for i in p.instances)


@dataclass(frozen=True, slots=True)
class IngestedSuite:
    """The records of a suite. They are committed to the store together."""

    suite: Suite
    tasks: tuple[Task, ...]
    instances: tuple[Instance, ...]


def read_suite(path: Path, *, verify: bool = True) -> SuiteFile:
    """Read a suite. path: a `suite.toml`, its folder, or the folder of a single task.

    Raises ManifestError with all faults of the suite and its packages together (as `FaultyManifest`). verify: whether a
    package that differs from `suite.lock` is a fault.
    """
    path = Path(path)
    if path.is_dir() and (path / "suite.toml").is_file():
        path = path / "suite.toml"
    if path.is_dir() or path.name == "task.toml":
        return _suite_of_one_task(path.parent if path.name == "task.toml" else path)
    if not path.is_file():
        raise ManifestError("there is no such suite", where=str(path), next="worksample suite show starter")
    faults = Faults()
    document = read_toml(path, path.name, faults)
    file = path.name
    table = None if document.broken else validate(SuiteTable, _without(document.data, "tier"), faults, file=file)
    packages = _packages(path.parent, table.tasks if table else (), faults, file)
    tiers = _tiers(document.data["tier"], packages, faults, file) if "tier" in document.data else by_tier(packages)
    if table is not None and verify and not faults.found:
        check_lock(path.parent, packages, faults)
        faults.check(str(path), f"worksample suite pin {path}")
    if table is None or faults.found:
        raise FaultyManifest(faults.found, where=str(path), next=f"worksample suite show {path}")
    return SuiteFile(
        path, table.name, table.title, table.version, table.visibility, table.roles, tuple(packages), tiers,
        HostLists(**table.hosts.plain()) if table.hosts != HostsTable() else None,
    )  # fmt: skip


def _without(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in data.items() if k != key}


def _suite_of_one_task(folder: Path) -> SuiteFile:
    package = read_package(folder)
    return SuiteFile(folder, package.id, package.title, package.version, "public", {}, (package,), by_tier([package]))


def by_tier(packages: Sequence[Package]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group instances by the tier in their task's `about` table. Used for a suite without tiers."""
    found: dict[str, list[str]] = {}
    for package in packages:
        if package.about.tier:
            found.setdefault(package.about.tier, []).extend(f"{package.id}/{i.name}" for i in package.instances)
    return tuple((name, tuple(keys)) for name, keys in found.items())


def _packages(root: Path, tasks: Sequence[str], faults: Faults, file: str) -> list[Package]:
    """Read the packages of a suite. `tasks` lists folders, or patterns such as `tasks/*`."""
    folders: list[str] = []
    for given in tasks:
        names, problem = _folders(root, given)
        if problem:
            faults.add(file, "tasks", f"{show_value(given)} {problem}")
        folders += [n for n in names if n not in folders]
    if not folders and not faults.found:
        faults.add(file, "tasks", "there is none", 'a list of folders, such as ["tasks/*"]')
    packages: list[Package] = []
    for folder in folders:
        try:
            package = read_package(root / folder)
        except FaultyManifest as error:
            for fault in error.faults:
                faults.add(f"{folder}/{fault.file}", fault.key, fault.problem, fault.allowed)
            continue
        except ManifestError as error:
            faults.add(folder, "", error.what)
            continue
        if package.id in [p.id for p in packages]:
            faults.add(file, "tasks", f"two tasks have the id {package.id!r}")
        packages.append(package)
    return packages


def _folders(root: Path, given: str) -> tuple[list[str], str | None]:
    """Return the folders that a name or a pattern matches. If the name or pattern is invalid, return the problem as
    well.
    """
    if not any(c in given for c in "*?["):
        problem = path_problem(root, given, folder=True)
        return ([] if problem else [given]), problem
    if ".." in Path(given).parts or Path(given).is_absolute() or not given.isprintable():
        return [], "must be a pattern inside the suite's folder"
    try:
        found = sorted(root.glob(given))
    except (ValueError, OSError, re.error):
        return [], "is not a pattern"
    names = [p.relative_to(root).as_posix() for p in found if (p / "task.toml").is_file()]
    return names, None if names else "matches no task"


def _tiers(
    data: object, packages: Sequence[Package], faults: Faults, file: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    of_task = {p.id: tuple(f"{p.id}/{i.name}" for i in p.instances) for p in packages}
    known = [key for keys in of_task.values() for key in keys]
    taken: dict[str, str] = {}
    found = []
    if not isinstance(data, list):
        faults.add(file, "tier", f"{show_value(data)} has the wrong type", "tables, each begun with [[tier]]")
    for number, given in enumerate(data if isinstance(data, list) else ()):
        at = f"tier[{number}]"
        tier = validate(TierTable, given, faults, file=file, at=at)
        if tier is None:
            continue
        keys: list[str] = []
        for task in tier.tasks:
            if task not in of_task:
                what = f"{show_value(task)} is not a task of this suite{nearest(task, of_task)}"
                faults.add(file, f"{at}.tasks", what)
            keys += of_task.get(task, ())
        for key in tier.instances:
            if key not in known:
                what = f"{show_value(key)} is not an instance of this suite{nearest(key, known)}"
                faults.add(file, f"{at}.instances", what, "task/instance")
            else:
                keys.append(key)
        for key in keys:
            if key in taken:
                faults.add(file, f"{at}.name", f"{key!r} is in two tiers, {taken[key]!r} and {tier.name!r}")
            taken[key] = tier.name
        found.append((tier.name, tuple(dict.fromkeys(keys))))
    return tuple(found)


def ingest_suite(suite: SuiteFile, sink: Sink, *, kit: str = "") -> IngestedSuite:
    """Store all packages of a suite in `sink` and return their records. kit: see `ingest`."""
    taken: list[Ingested] = [ingest(package, sink, kit=kit) for package in suite.packages]
    instances = tuple(i for t in taken for i in t.instances)
    ids = {i.key: i.id for i in instances}
    body = {
        "name": suite.name,
        "title": suite.title,
        "version": suite.version,
        "visibility": suite.visibility,
        "tiers": tuple(Tier(name=name, instances=tuple(ids[k] for k in keys)) for name, keys in suite.tiers),
        "instances": tuple(i.id for i in instances),
        "roles": dict(suite.roles),
        "hosts": suite.hosts,
    }
    draft = Suite.model_validate({"id": "draft", **body})
    rest = {k: v for k, v in draft.plain().items() if k != "id"}
    return IngestedSuite(
        draft.replaced(id=f"{suite.name}@{digest_of(rest)[:16]}"), tuple(t.task for t in taken), instances
    )


def shipped_suites() -> tuple[str, ...]:
    """Return the names of the suites that are part of Worksample."""
    root = Path(str(resources.files("worksample"))) / "suites"
    return tuple(sorted(p.parent.name for p in root.glob("*/suite.toml")))


def find_suite(name: str) -> Path:
    """Return the path of a suite in the form that `read_suite` accepts.

    name: the name of a suite that is part of Worksample, or the path of a `suite.toml`, of its folder, or of the folder
    of a task. Raises ManifestError if there is no such suite.
    """
    if name in shipped_suites():
        return Path(str(resources.files("worksample"))) / "suites" / name / "suite.toml"
    found = _suite_or_task_at(Path(name))
    if found is not None:
        return found
    known = ", ".join(shipped_suites()) or "none"
    raise ManifestError(
        f"there is no suite {show_value(name)} and no suite.toml or task.toml at this "
        f"path{nearest(name, shipped_suites())}",
        where="suite",
        next=f"one of the shipped ones ({known}), or a path",
    )


def _suite_or_task_at(path: Path) -> Path | None:
    try:
        if path.is_file() and path.suffix == ".toml":
            return path.parent if path.name == "task.toml" else path
        if (path / "suite.toml").is_file():
            return path / "suite.toml"
        return path if (path / "task.toml").is_file() else None
    except OSError:  # such as a name that is too long for any file
        return None


def pin_suite(path: Path) -> Path:
    """Write the file `suite.lock` beside a `suite.toml`, and return its path. path: see `read_suite`.

    Raises ManifestError if the suite has faults, or if the path is that of a single task, which has no lock.
    """
    suite = read_suite(path, verify=False)
    if suite.path.is_dir():
        raise ManifestError(
            "a single task has no lock: only a suite has one", where=str(path), next="write a suite.toml"
        )
    return write_lock(suite.path.parent, suite.packages)
