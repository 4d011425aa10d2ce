"""The tables `[[instance]]` of `task.toml`: the instances of a task, and the settings that each instance overrides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from worksample.errors import ManifestError
from worksample.files.config_files import AllowedText, Faults, Settings, validate
from worksample.records import Deliverable, Environment, Frozen

from .brief_settings import render_brief, setting_names
from .environment import Deliverables, DeliverableTable, LimitsTable, PathsTable, deliverables_of
from .package_files import Folder, MarkdownFile, read_text
from .package_spec import InstanceSpec
from .task_services import Word

FILE = "task.toml"
MOST = 2000
"""Maximum number of instances of one task."""
NAME = r"[a-z0-9][a-z0-9._-]{0,99}"
TaskName = Annotated[
    str, Field(pattern=f"^{NAME}$"), AllowedText("lower case letters, digits, '.', '_' and '-'; at most 100")
]


class InstanceTable(Frozen):
    """The table `[[instance]]` of `task.toml`. Its limits, paths and deliverables override those of the task."""

    name: TaskName
    title: str = ""
    inputs: Folder = "inputs"
    reference: Folder = "reference"
    brief: MarkdownFile = Field(default="brief.md", validate_default=True)
    settings: Settings = {}
    services: Annotated[tuple[Word, ...], AllowedText("a list of names")] = ()
    """Services that this instance needs beside the task's."""
    limits: LimitsTable = LimitsTable()
    paths: PathsTable = PathsTable()
    deliverables: Deliverables = {}


class Shared(Frozen):
    """Settings that all instances of a task share. An instance may override them."""

    environment: Environment = Environment()
    deliverables: dict[str, DeliverableTable] = {}
    settings: dict[str, Any] = {}


def read_instances(data: object, shared: Shared, faults: Faults, context: Mapping[str, Any]) -> list[InstanceSpec]:
    """Read and check all instances of a task. A task without instances is a fault, and so are two instances with the
    same name.
    """
    found: list[InstanceSpec] = []
    if isinstance(data, list) and len(data) > MOST:
        faults.add(FILE, "instance", f"the task has {len(data):,} instances", f"at most {MOST:,}; make several tasks")
        return []
    for number, given in enumerate(data if isinstance(data, list) else ()):
        at = f"instance[{number}]"
        table = validate(InstanceTable, given, faults, file=FILE, at=at, context=context)
        if table is None:
            continue
        spec = _Instance(table, at, context["root"], faults).spec(shared)
        if spec.name in [s.name for s in found]:
            faults.add(FILE, f"{at}.name", f"{spec.name!r} appears twice", "a name of its own for each instance")
        found.append(spec)
    if isinstance(data, list) and not data:
        faults.add(FILE, "instance", "the task has no instance", "at least one [[instance]]")
    return found


class _Instance:
    """Table `[[instance]]` of a package, with the methods that check it and convert it to an `InstanceSpec`."""

    def __init__(self, table: InstanceTable, at: str, root: Path, faults: Faults) -> None:
        self.table, self.at, self.root, self.faults = table, at, root, faults

    def spec(self, shared: Shared) -> InstanceSpec:
        table = self.table
        one, other = table.inputs + "/", table.reference + "/"
        if one.startswith(other) or other.startswith(one):
            self._fault(
                "reference",
                "one of the folders inputs and reference contains the other, so the agent would see the reference",
            )
        return InstanceSpec(
            name=table.name,
            title=table.title or table.name,
            inputs=table.inputs,
            reference=table.reference,
            brief_file=table.brief,
            brief=self._brief(shared.settings),
            settings=table.settings,
            environment=self._environment(shared.environment),
            deliverables=self._deliverables(shared),
        )

    def _fault(self, key: str, problem: str, allowed: str = "") -> None:
        self.faults.add(FILE, f"{self.at}.{key}", problem, allowed)

    def _environment(self, shared: Environment) -> Environment:
        try:
            paths = self.table.paths.merged_over(shared.paths)
        except ValueError as error:
            self._fault("paths", str(error))
            paths = shared.paths
        if self.table.services and shared.workplace is not None:
            self._fault("services", "a workplace has the same services for all instances", "services of [environment]")
        services = tuple(dict.fromkeys((*shared.services, *self.table.services)))
        start = shared.start and shared.start.replaced(settings=dict(self.table.settings))
        limits = self.table.limits.merged_over(shared.limits)
        return shared.replaced(limits=limits, paths=paths, services=services, start=start)

    def _deliverables(self, shared: Shared) -> tuple[Deliverable, ...]:
        return deliverables_of(shared.deliverables, self.table.deliverables)

    def _brief(self, shared: Mapping[str, Any]) -> str:
        if self.faults.has(FILE, f"{self.at}.brief"):
            return ""
        name, settings = self.table.brief, {**shared, **self.table.settings}
        text = read_text(self.root, name, self.faults)
        if not text.strip() and not self.faults.has(name, ""):
            self.faults.add(name, "", "is empty")
        try:
            return render_brief(text, settings)
        except ManifestError:
            unfilled = [p for p in setting_names(text) if isinstance(settings.get(p), (dict, list, type(None)))]
            asked = ", ".join("{{" + p + "}}" for p in unfilled)
            self._fault("settings", f"{name} uses {asked}, so each of these settings must be a text or number")
            return ""
