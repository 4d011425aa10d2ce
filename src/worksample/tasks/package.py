"""Reader of a task package. `read_package` reads the whole folder and reports all faults together."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from worksample.errors import ManifestError, UsageError
from worksample.files.config_files import (
    AllowedText,
    Day,
    Document,
    Faults,
    FaultyManifest,
    Flag,
    Line,
    Texts,
    exact_fault,
    read_toml,
    show_value,
    validate,
)
from worksample.records import (
    About,
    CollectSpec,
    Criteria,
    Criterion,
    Environment,
    Frozen,
    Hours,
    Protocol,
    Source,
    Value,
)
from worksample.tasks.taxonomy import lookup, suggest

from .control_cases import read_cases
from .criteria import read_criteria
from .environment import Deliverables, EnvironmentTable
from .gradings import PROGRAMS, read_gradings
from .instances import FILE, Shared, TaskName, read_instances
from .loaded_instances import with_loaded
from .package_files import check_tree, is_folder, is_ignored, read_text
from .package_spec import GradingSpec, InstanceSpec, Package
from .shown_reference import ReferenceVisibility, read_shown
from .work_steps import check_collected, check_verified, folders_of, with_briefs
from .workplace_settings import WORKPLACE


def _category(text: str) -> str:
    if text:
        try:
            lookup(text)
        except UsageError:
            near = ", ".join(suggest(text)) or "an id of docs/reference/task-package.md"
            raise exact_fault(f"there is no category {show_value(text)}", near) from None
    return text


Where = Annotated[Source, Field(strict=False)]


class ValueTable(Value):
    """The table `about.value` of `task.toml`. Numbers and dates must have TOML's own types and must not be texts."""

    model_config = ConfigDict(strict=True)
    date: Day
    source: Where
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$"), AllowedText("a code of three capitals, such as USD")] = "USD"


class HoursTable(Hours):
    """The table `about.hours` of `task.toml`. Numbers and dates must have TOML's own types and must not be texts."""

    model_config = ConfigDict(strict=True)
    date: Day
    source: Where


class AboutTable(About):
    """The table `[about]` of `task.toml`, which describes the work."""

    category: Annotated[str, AfterValidator(_category)] = ""
    occupation: Annotated[str, Field(pattern=r"^(\d{2}-\d{4})?$"), AllowedText("a SOC 2018 code such as '13-2011'")] = (
        ""
    )
    value: ValueTable | None = None
    hours: HoursTable | None = None
    tier: Annotated[
        str, Field(pattern=r"^([a-z0-9][a-z0-9._-]*)?$"), AllowedText("a name in lower case, such as 'easy'")
    ] = ""
    tags: Texts = ()

    def record(self) -> About:
        """Return the table as an `About` record."""
        plain: dict[str, Any] = self.plain()
        return About.model_validate(plain)


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
CANARY = rf"^[A-Za-z0-9._ -]*{_UUID}[A-Za-z0-9._ -]*$"
Version = Annotated[Line, AllowedText('a text such as "1.0"')]


class TaskTable(Frozen):
    """The keys at the top level of `task.toml`. The tables inside are validated one by one, so that a fault in one
    table does not hide faults in others.
    """

    id: TaskName
    title: Line
    version: Version
    canary: Annotated[
        str, Field(pattern=CANARY), AllowedText("a text with a UUID of its own, 'worksample-canary-<uuid>'")
    ]
    grading: dict[str, Any]
    instance: tuple[dict[str, Any], ...]
    about: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    deliverables: dict[str, Any] = {}
    reference: dict[str, Any] = {}
    capture: dict[str, Any] = {}


class CaptureTable(Frozen):
    """The table `[capture]` of `task.toml`: what is stored after the work, in addition to the output and the results of
    probes.
    """

    root: Flag = False
    """True if the agent's changes to the image's root file system are stored."""
    collect: Annotated[tuple[CollectSpec, ...], Field(max_length=100), AllowedText("tables, at most 100")] = ()


class _Named(Frozen):
    """The table `[deliverables]` of `task.toml`, validated separately from other tables."""

    deliverables: Deliverables = {}


def read_package(root: Path) -> Package:
    """Read the task package in a folder (see docs/reference/task-package.md).

    Raises ManifestError with all faults of all files together (as `FaultyManifest`). Each fault names the file, the
    key, the problem, and what is allowed. Raises a plain ManifestError if the folder or its `task.toml` does not exist.
    """
    root = Path(root)
    if not is_folder(root):
        if root.name == FILE and is_folder(root.parent):
            raise ManifestError("this is a file, but a task is a folder", where=str(root), next=f"--task {root.parent}")
        raise ManifestError("there is no such folder", where=str(root), next="worksample task new FOLDER")
    faults = Faults()
    if not (root / FILE).is_file():
        hint = "; a package is written in TOML" if any(root.glob("task.y*ml")) else ""
        raise ManifestError(f"the folder has no task.toml{hint}", where=str(root), next="worksample task new FOLDER")
    check_tree(root, faults)
    package = _package(root, read_toml(root / FILE, FILE, faults), faults)
    if package is None or faults.found:
        raise FaultyManifest(faults.found, where=str(root), next=f"worksample task check {root}")
    return package


def _package(root: Path, document: Document, faults: Faults) -> Package | None:
    """Return the package. Return None if faults at the top level of `task.toml` prevent that."""
    data, context = with_loaded(document.data, root, faults), {"root": root}
    head = None if document.broken else validate(TaskTable, data, faults, file=FILE)
    if head is not None and head.id != root.resolve().name and not faults.has(FILE, "id"):
        faults.add(FILE, "id", f"{head.id!r} is not the folder's name", repr(root.resolve().name))
    about = validate(AboutTable, _table(data, "about"), faults, file=FILE, at="about")
    environment = validate(
        EnvironmentTable, _table(data, "environment"), faults, file=FILE, at="environment", context=context
    )
    named = validate(_Named, {"deliverables": _table(data, "deliverables")}, faults, file=FILE)
    gradings = read_gradings(_table(data, "grading"), faults, context) if "grading" in data else {}
    criteria = read_criteria(root / "criteria.toml", faults)
    work = environment.record() if environment else Environment()
    steps = folders_of(work)
    work = with_briefs(work, root, faults)
    shared = Shared(
        environment=work,
        deliverables=named.deliverables if named else {},
        settings=_settings(data),
    )
    instances = read_instances(data.get("instance"), shared, faults, context)
    shown = _read_visibility(root, _table(data, "reference"), instances, faults)
    cases = read_cases(root, [i.name for i in instances], _ids(criteria.criteria), faults)
    capture = validate(CaptureTable, _table(data, "capture"), faults, file=FILE, at="capture") or CaptureTable()
    if capture.root and environment is not None and environment.image is None:
        faults.add(
            FILE,
            "capture.root",
            "the task has no image, so no changes of its root can be captured",
            "environment.image",
        )
    if (work.steps or capture.collect) and not capture.root:
        faults.add(
            FILE, "capture.root", "steps and `collect` need the changes of the image's root to be captured", "true"
        )
    check_collected(capture.collect, work, faults)
    for protocol, one in gradings.items():
        verified = [each["name"] for each in (one.settings.get("verifier") or {}).get("step", ())]
        check_verified(verified, work, f"grading.{protocol.value}.verifier.step", faults)
    _check_across_tables(gradings, criteria, [] if capture.root else instances, faults)
    for protocol, one in gradings.items():
        if one.settings.get("workplace") and not all(i.environment.workplace for i in instances):
            faults.add(
                FILE,
                f"grading.{protocol.value}.workplace",
                "the task has no workplace with a company",
                "environment.company",
            )
    _check_files(instances, faults)
    notes = read_text(root, "notes.md", faults) if (root / "notes.md").exists() else ""
    probes = _probes(root, faults)
    if head is None:
        return None
    return Package(
        root=root, id=head.id, title=head.title, version=head.version, canary=head.canary,
        about=about.record() if about else About(), criteria=criteria, notes=notes, gradings=gradings,
        instances=tuple(instances), cases=tuple(cases), probes=probes, shown=shown, root_captured=capture.root,
        collect=capture.collect,
        exports=_exports(environment),
        apart=frozenset(
            p for i in instances for p in (i.inputs, i.reference, i.brief_file, *_brought_paths(i.environment), *steps)
        ),
    )  # fmt: skip


def _exports(environment: EnvironmentTable | None) -> tuple[str, ...]:
    """Return the names of the services whose state is stored when a trial ends."""
    if environment is None:
        return ()
    own = tuple(one.name for one in environment.service if one.export)
    return own if environment.company is None else (*own, WORKPLACE)


def _brought_paths(environment: Environment) -> tuple[str, ...]:
    """Return the paths of images and of services' files in the package."""
    images = (environment.image, *(one.image for one in environment.served))
    names = [image.name for image in images if image is not None and "://" not in image.name]
    sources = [one.files for one in environment.served]
    if environment.workplace is not None:
        sources += [environment.workplace.company, environment.workplace.setup, environment.workplace.live]
    return (*names, *(one.name for one in sources if one is not None))


def _check_files(instances: list[InstanceSpec], faults: Faults) -> None:
    """Add a fault for each service whose files overlap with the reference, cases, probes or scripts. An agent may be
    able to see all files of a service.
    """
    for spec in instances:
        workplace = spec.environment.workplace
        served = [(f"service[{n}].files", one.files) for n, one in enumerate(spec.environment.served)]
        for key, source in [
            *served,
            ("company", workplace and workplace.company),
            ("setup", workplace and workplace.setup),
        ]:
            for secret in (spec.reference, "cases", "probes", "scripts"):
                given = f"{source.name}/" if source else ""
                if given and (given.startswith(f"{secret}/") or f"{secret}/".startswith(given)):
                    what = f"{given[:-1]!r} and {secret!r} lie in one another"
                    faults.add(FILE, f"environment.{key}", f"{what}: the agent could get at it")


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table of `task.toml`. Return an empty table if the value is not a table; the check of the top level
    reports this fault.
    """
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _settings(data: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of all gradings together, because briefs may use them as placeholders."""
    tables = (_table(_table(data, "grading"), protocol.value) for protocol in Protocol)
    return {key: value for table in tables for key, value in _table(table, "settings").items()}


def _ids(nodes: Collection[Criterion]) -> set[str]:
    return {id for node in nodes for id in (node.id, *_ids(node.parts))}


def _check_across_tables(
    gradings: dict[Protocol, GradingSpec], criteria: Criteria, instances: list[InstanceSpec], faults: Faults
) -> None:
    """Add a fault if a task is graded by a program, but an instance has neither deliverables nor services."""
    for spec in instances:
        # What is delivered to a service (a message, an upload) is no file.
        served = spec.environment.services or spec.environment.served
        if not spec.deliverables and not served and any(p in PROGRAMS for p in gradings):
            if not any(f.key.startswith("deliverables") for f in faults.found):
                what = f"the instance {spec.name} has no deliverable"
                faults.add(FILE, "deliverables", what, 'at least one "name" = { format = "..." }')
            break


def _read_visibility(
    root: Path, data: dict[str, Any], instances: list[InstanceSpec], faults: Faults
) -> ReferenceVisibility:
    references = {}
    for folder in dict.fromkeys(i.reference for i in instances):
        inside = (p.relative_to(root / folder).as_posix() for p in (root / folder).rglob("*") if p.is_file())
        references[folder] = sorted(path for path in inside if not is_ignored(path))
    return read_shown(data, references, faults)


def _probes(root: Path, faults: Faults) -> tuple[str, ...]:
    folder = root / "probes"
    if not folder.is_dir():
        return ()
    found = sorted(p.name for p in folder.iterdir() if not is_ignored(p.name))
    for name in found:
        if not name.endswith((".py", ".sh")) or (folder / name).is_dir():
            faults.add(f"probes/{name}", "", "is not a probe", "files that end in .py or .sh")
    stems = [name[:-3] for name in found]
    for name in found:
        if stems.count(name[:-3]) > 1:
            faults.add(f"probes/{name}", "", "two probes have the same name without their endings")
    return tuple(found)
