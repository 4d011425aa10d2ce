"""Suites: `suite.toml`, a named list of tasks with tiers; read in whole, checked against `suite.lock`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import ManifestError
from worksample.files import Sink
from worksample.records import Instance, Suite, Task, Tier, digest_of

from .faults import Faults, FaultyPackage, nearest
from .ingest import Ingested, ingest
from .lock import check_lock
from .package import NAME, read_package
from .spec import Package
from .table import Table, read_toml
from .tree import path_problem

VISIBILITIES = ("public", "private")


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite as it was read, with all of its packages."""

    path: Path
    """The `suite.toml`, or the folder of the one task that stands for a suite of its own."""
    name: str
    title: str
    version: str
    visibility: str
    roles: Mapping[str, str]
    packages: tuple[Package, ...]
    tiers: tuple[tuple[str, tuple[str, ...]], ...]
    """Tier -> keys (`task/instance`) of its instances."""

    @property
    def keys(self) -> tuple[str, ...]:
        """`task/instance` of all instances, in order."""
        return tuple(f"{p.id}/{i.name}" for p in self.packages for i in p.instances)


@dataclass(frozen=True, slots=True)
class IngestedSuite:
    """The records of a suite, ready to be committed together."""

    suite: Suite
    tasks: tuple[Task, ...]
    instances: tuple[Instance, ...]


def read_suite(path: Path, *, verify: bool = True) -> SuiteFile:
    """A suite from its `suite.toml`, the folder around it, or the folder of a single task.

    Raises ManifestError (a `FaultyPackage`) with every fault of the suite and of all its packages; with `verify`, a
    package that differs from `suite.lock` is one of them.
    """
    path = Path(path)
    if path.is_dir() and (path / "suite.toml").is_file():
        path = path / "suite.toml"
    if path.is_dir() or path.name == "task.toml":
        return _alone(path.parent if path.name == "task.toml" else path)
    if not path.is_file():
        raise ManifestError("there is no such suite", where=str(path), next="worksample suite show starter")
    faults = Faults()
    table = read_toml(path, path.name, faults)
    name = table.text("name", pattern=NAME, says="lower case letters, digits, '.', '_' and '-'; at most 100")
    title, version = table.text("title"), table.text("version", says='a text such as "1.0"')
    visibility = table.text("visibility", "public", choices=VISIBILITIES)
    roles = _roles(table)
    packages = _packages(path.parent, table, faults)
    tiers = _tiers(table, packages) if table.has("tier") else by_tier(packages)
    table.done()
    if verify and not faults.found:
        check_lock(path.parent, packages, faults)
        faults.check(str(path), f"worksample suite pin {path}")
    faults.check(str(path), f"worksample suite show {path}")
    return SuiteFile(path, name, title, version, visibility, roles, tuple(packages), tiers)


def _alone(folder: Path) -> SuiteFile:
    package = read_package(folder)
    return SuiteFile(folder, package.id, package.title, package.version, "public", {}, (package,), by_tier([package]))


def by_tier(packages: Sequence[Package]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Tiers by what each task says of itself, where a suite names none."""
    found: dict[str, list[str]] = {}
    for package in packages:
        if package.about.tier:
            found.setdefault(package.about.tier, []).extend(f"{package.id}/{i.name}" for i in package.instances)
    return tuple((name, tuple(keys)) for name, keys in found.items())


def _roles(table: Table) -> dict[str, str]:
    inner = table.table("roles")
    roles = {role: inner.text(role, says="a model's name, such as 'openai/gpt-5'") for role in inner.data}
    inner.done()
    return {role: model for role, model in roles.items() if model}


def _packages(root: Path, table: Table, faults: Faults) -> list[Package]:
    """The packages that `tasks` names, by folder or by a pattern such as `tasks/*`."""
    folders: list[str] = []
    for given in table.texts("tasks"):
        if any(c in given for c in "*?["):
            steps = Path(given).parts
            found = [] if ".." in steps or Path(given).is_absolute() else sorted(root.glob(given))
            names = [p.relative_to(root).as_posix() for p in found if (p / "task.toml").is_file()]
            if not names:
                table.fault("tasks", f"{given!r} matches no task", "a pattern inside the suite's folder")
            folders += [n for n in names if n not in folders]
        elif problem := path_problem(root, given, folder=True):
            table.fault("tasks", f"{given!r} {problem}")
        elif given not in folders:
            folders.append(given)
    if not folders and not faults.found:
        table.fault("tasks", "there is none", 'a list of folders, such as ["tasks/*"]')
    packages: list[Package] = []
    for folder in folders:
        try:
            package = read_package(root / folder)
        except FaultyPackage as error:
            for fault in error.faults:
                faults.add(f"{folder}/{fault.file}", fault.key, fault.problem, fault.allowed)
            continue
        except ManifestError as error:
            faults.add(folder, "", error.what)
            continue
        if package.id in [p.id for p in packages]:
            table.fault("tasks", f"two tasks have the id {package.id!r}")
        packages.append(package)
    return packages


def _tiers(table: Table, packages: Sequence[Package]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    of_task = {p.id: tuple(f"{p.id}/{i.name}" for i in p.instances) for p in packages}
    known = [key for keys in of_task.values() for key in keys]
    taken: dict[str, str] = {}
    found = []
    for inner in table.tables("tier"):
        name = inner.text("name", pattern=NAME, says="a name in lower case, such as 'easy'")
        keys: list[str] = []
        for task in inner.texts("tasks"):
            if task not in of_task:
                inner.fault("tasks", f"{task!r} is no task of this suite{nearest(task, of_task)}")
            keys += of_task.get(task, ())
        for key in inner.texts("instances"):
            if key not in known:
                inner.fault("instances", f"{key!r} is no instance of this suite{nearest(key, known)}", "task/instance")
            else:
                keys.append(key)
        inner.done()
        for key in keys:
            if key in taken:
                inner.fault("name", f"{key!r} stands in two tiers, {taken[key]!r} and {name!r}")
            taken[key] = name
        found.append((name, tuple(dict.fromkeys(keys))))
    return tuple(found)


def ingest_suite(suite: SuiteFile, sink: Sink, *, kit: str = "") -> IngestedSuite:
    """Take all packages of a suite in; as `ingest`, for each."""
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
    }
    draft = Suite.model_validate({"id": "draft", **body})
    rest = {k: v for k, v in draft.plain().items() if k != "id"}
    return IngestedSuite(
        draft.replaced(id=f"{suite.name}@{digest_of(rest)[:16]}"), tuple(t.task for t in taken), instances
    )
