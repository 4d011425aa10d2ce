"""`read_package`: a task's folder, read in whole; every fault is found before anything is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from worksample.errors import ManifestError
from worksample.records import Protocol

from .about import read_about
from .brief import places, render_brief
from .cases import read_cases
from .criteria import read_criteria
from .environment import read_deliverables, read_environment
from .faults import Faults
from .gradings import PROGRAMS, read_gradings
from .shown import Shown, read_shown
from .spec import GradingSpec, InstanceSpec, Package
from .table import Table, read_toml
from .tree import check_tree, ignored, path_problem

NAME = r"[a-z0-9][a-z0-9._-]{0,99}"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
CANARY = rf"[A-Za-z0-9._ -]*{_UUID}[A-Za-z0-9._ -]*"
TEXT_LIMIT = 1 << 20
"""Bytes of a brief or of the notes."""


def read_package(root: Path) -> Package:
    """The package in a folder (see docs/task-package.md).

    Raises ManifestError (a `FaultyPackage`) with every fault of every file: file, key, what is wrong, what is allowed.
    """
    root = Path(root)
    if not root.is_dir():
        raise ManifestError("there is no such folder", where=str(root), next="worksample task new FOLDER")
    faults = Faults()
    if not (root / "task.toml").is_file():
        hint = "; a package is written in TOML" if any(root.glob("task.y*ml")) else ""
        raise ManifestError(f"it has no task.toml{hint}", where=str(root), next="worksample task new FOLDER")
    check_tree(root, faults)
    table = read_toml(root / "task.toml", "task.toml", faults)
    package = _package(root, table, faults)
    faults.check(str(root), f"worksample task check {root}")
    return package


def _package(root: Path, table: Table, faults: Faults) -> Package:
    id = table.text("id", pattern=NAME, says="lower case letters, digits, '.', '_' and '-'; at most 100")
    if id and id != root.resolve().name:
        table.fault("id", f"{id!r} is not the folder's name", repr(root.resolve().name))
    title, version = table.text("title"), table.text("version", says='a text such as "1.0"')
    canary = table.text("canary", pattern=CANARY, says="a text with a UUID of its own, 'worksample-canary-<uuid>'")
    about = read_about(table.table("about"))
    environment = read_environment(table.table("environment"))
    deliverables = read_deliverables(table.table("deliverables"))
    gradings = read_gradings(root, table.table("grading", required=True))
    criteria = read_criteria(root / "criteria.toml", faults)
    instances = _instances(root, table, gradings)
    shown = _shown(root, table.table("reference"), instances)
    table.done()
    names = [i.name for i in instances]
    leaves = {c.id for c in criteria.leaves} | {c.id for c in criteria.criteria}
    cases = read_cases(root, names, leaves, faults)
    # What is delivered to a service (a message, an upload) is no file.
    if not deliverables and not environment.services and any(p in PROGRAMS for p in gradings) and not table.broken:
        table.fault("deliverables", "there is none", 'one "name" = { format = "..." } at least')
    for protocol, spec in gradings.items():
        if spec.shown and not criteria.criteria:
            table.fault(f"grading.{protocol}.shown", "criteria.toml has nothing to show")
    notes = root / "notes.md"
    return Package(
        root=root, id=id, title=title, version=version, canary=canary, about=about, environment=environment,
        deliverables=deliverables, criteria=criteria, notes=_read(root, "notes.md", faults) if notes.exists() else "",
        gradings=gradings, instances=tuple(instances), cases=tuple(cases), probes=_probes(root, faults),
        shown=shown,
        apart=frozenset(p for i in instances for p in (i.inputs, i.reference, i.brief_file)),
    )  # fmt: skip


def _read(root: Path, name: str, faults: Faults) -> str:
    try:
        data = (root / name).read_bytes()
        if len(data) > TEXT_LIMIT:
            faults.add(name, "", f"is larger than {TEXT_LIMIT:,} bytes")
        return data[:TEXT_LIMIT].decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        faults.add(name, "", f"is not UTF-8 text: byte {error.start}")
        return ""


def _shown(root: Path, table: Table, instances: list[InstanceSpec]) -> Shown:
    references = {}
    for folder in dict.fromkeys(i.reference for i in instances):
        inside = (p.relative_to(root / folder).as_posix() for p in (root / folder).rglob("*") if p.is_file())
        references[folder] = sorted(path for path in inside if not ignored(path))
    return read_shown(table, references)


def _probes(root: Path, faults: Faults) -> tuple[str, ...]:
    folder = root / "probes"
    if not folder.is_dir():
        return ()
    found = sorted(p.name for p in folder.iterdir() if not ignored(p.name))
    for name in found:
        if not name.endswith((".py", ".sh")) or (folder / name).is_dir():
            faults.add(f"probes/{name}", "", "is no probe", "files that end in .py or .sh")
    stems = [name[:-3] for name in found]
    for name in found:
        if stems.count(name[:-3]) > 1:
            faults.add(f"probes/{name}", "", "another probe has this name but for its ending")
    return tuple(found)


def _instances(root: Path, table: Table, gradings: dict[Protocol, GradingSpec]) -> list[InstanceSpec]:
    shared: dict[str, Any] = {}
    for grading in gradings.values():
        shared |= grading.settings
    found: list[InstanceSpec] = []
    for inner in table.tables("instance"):
        spec = _instance(root, inner, shared)
        if spec.name and spec.name in [s.name for s in found]:
            inner.fault("name", f"{spec.name!r} stands twice", "a name of its own for each instance")
        found.append(spec)
    if not found and not table.broken:
        table.fault("instance", "there is none", "one [[instance]] at least")
    return found


def _instance(root: Path, table: Table, shared: dict[str, Any]) -> InstanceSpec:
    name = table.text("name", pattern=NAME, says="lower case letters, digits, '.', '_' and '-'; at most 100")
    folders = {key: _folder(root, table, key) for key in ("inputs", "reference")}
    one, other = (re.sub(r"/+$", "", f) + "/" for f in folders.values())
    if one.startswith(other) or other.startswith(one):
        table.fault("reference", "inputs and reference lie in one another: the agent would see the reference")
    brief_file = table.text("brief", "brief.md", pattern=r".+\.md", says="a Markdown file in the package")
    problem = path_problem(root, brief_file, folder=False)
    text = ""
    if problem:
        table.fault("brief", f"{brief_file!r} {problem}")
    else:
        text = _read(root, brief_file, table.faults)
        if not text.strip():
            table.faults.add(brief_file, "", "is empty")
    title = table.text("title", "")
    settings = table.free("settings")
    table.done()
    try:
        text = render_brief(text, {**shared, **settings})
    except ManifestError:
        unfilled = [p for p in places(text) if isinstance({**shared, **settings}.get(p), (dict, list, type(None)))]
        table.fault(
            "settings", f"{brief_file} asks for {', '.join('{{' + p + '}}' for p in unfilled)}, a text or number"
        )
    return InstanceSpec(name, title or name, folders["inputs"], folders["reference"], brief_file, text, settings)


def _folder(root: Path, table: Table, key: str) -> str:
    """A folder of the package; the default one may be missing, a given one must be there."""
    given = table.has(key)
    name = table.text(key, key).rstrip("/") or key
    if given or (root / name).is_symlink():
        problem = path_problem(root, name, folder=True)
        if problem:
            table.fault(key, f"{name!r} {problem}")
            return key
    return name
