"""Import of Harbor's tasks as packages, one for each task; only the base images stay outside the package."""

from __future__ import annotations

import posixpath
import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from worksample.errors import ImportFailed, UsageError
from worksample.formats.package_writer import Packages, PendingPackage, package_names, write_packages
from worksample.sandboxes.live_verification import is_live
from worksample.tasks import read_package
from worksample.tasks.brief_settings import setting_names

from .package_layout import OUTPUT, TAG, WITHOUT_INTERNET, lay_out, step_name
from .task_toml import FILE, NEXT_COMMAND, HarborStep, HarborTask, HealthCheck, parse_size, read_task
from .unsupported_requirements import endpoints_of, mcp_of, obstacles_of
from .verifier_import import VERIFIER_TIME, toml, verifier_lines

_NAMESPACE = uuid.UUID("c1b3c3a6-1f0e-5d0e-8a53-0d9a5a1f3d52")
MEMORY, STORAGE = 2 << 30, 10 << 30
AGENT_TIME = 600.0
_GRADE = '''"""Grades by the task's own verifier, and the reward that it leaves."""

from worksample.kit import Case, Grade, verified


def grade(case: Case) -> Grade:
    return verified(case)
'''


@dataclass(frozen=True, slots=True)
class ImportHarbor:
    """Settings of an import of Harbor's tasks."""

    without_internet: bool = False
    """Whether a task that needs the public internet runs without network, marked by a tag; else it cannot be
    attempted.
    """
    overwrite: bool = False
    skip_faulty: bool = False
    """Whether unreadable tasks are left out; else the import fails after it has written the others."""


@dataclass(frozen=True, slots=True)
class ImportedHarborTask:
    """A package that was written."""

    name: str
    package: str
    needs: tuple[str, ...]
    """Names of the task's obstacles. With any of them, the instance cannot be attempted."""
    substituted: tuple[str, ...]
    """Descriptions of the changes that let the task run here."""
    solution: bool
    live: bool = False
    """Whether the verifier runs while the agent's programs still run."""


def import_harbor(source: Path, target: Path, config: ImportHarbor | None = None) -> Packages[ImportedHarborTask]:
    """Write a package below `target` for each task at or below `source`. Existing packages are kept.

    Raises UsageError if there is no task; FaultyPackages, after all others are written, if some are faulty, unless
    `skip_faulty`.
    """
    config = config or ImportHarbor()
    folders = _task_folders(Path(source))
    if not folders:
        raise UsageError(f"there is no Harbor task in or below {source}", next="worksample import harbor FOLDER OUT")
    places = {_task_path(folder, Path(source)): folder for folder in folders}
    names = package_names([*places])
    pending = [
        PendingPackage(place, names[place], partial(_write_task, folder, config)) for place, folder in places.items()
    ]
    return write_packages(
        pending, Path(target), overwrite=config.overwrite, skip_faulty=config.skip_faulty,
        next="correct the tasks and run the same command again, or leave them out with --skip-faulty",
    )  # fmt: skip


def _task_folders(source: Path) -> list[Path]:
    """Return the folders of tasks, including tasks without an instruction, which are reported as faulty."""
    manifests = [path.parent for path in source.rglob(FILE)]
    whole = {folder for folder in manifests if (folder / "instruction.md").is_file() or (folder / "steps").is_dir()}
    lacking = {
        folder
        for folder in set(manifests) - whole
        if any((folder / part).is_dir() for part in ("environment", "tests"))
        and not (folder / "brief.md").exists()  # a Worksample package
        and whole.isdisjoint(folder.parents)
    }
    return sorted(whole | lacking)


def _task_path(folder: Path, source: Path) -> str:
    """Return a task's path relative to the source, or the folder's name if the task is the source."""
    return folder.relative_to(source).as_posix() if folder != source else folder.resolve().name


def _write_task(folder: Path, config: ImportHarbor, root: Path) -> ImportedHarborTask:
    task = read_task(folder)
    if not (folder / "steps").is_dir() and not (folder / "instruction.md").is_file():
        raise ImportFailed("the task has no instruction.md", where=str(folder), next=NEXT_COMMAND)
    root.mkdir(parents=True)
    needs = obstacles_of(task, folder, without_internet=config.without_internet)
    substituted = lay_out(task, folder, root)
    if task.agent_network[0] == "public" and config.without_internet:
        substituted.append(WITHOUT_INTERNET)
    image = (root / "image" / "Dockerfile").is_file()
    solution = image and any((root / "reference").rglob("solve.sh"))
    brief = _brief(task, folder)
    (root / FILE).write_text(
        _manifest(task, root, brief, _TaskFindings(needs, tuple(substituted), solution)), encoding="utf-8"
    )
    (root / "brief.md").write_text(brief, encoding="utf-8")
    (root / "grade.py").write_text(_GRADE, encoding="utf-8")
    (root / "notes.md").write_text(_notes(folder, needs, substituted), encoding="utf-8")
    live = any(is_live(one.settings) for one in read_package(root).gradings.values())
    return ImportedHarborTask(root.name, str(root.parent.parent / root.name), needs, tuple(substituted), solution, live)


@dataclass(frozen=True, slots=True)
class _TaskFindings:
    """Facts about a task that are known after its files are copied."""

    needs: tuple[str, ...]
    substituted: tuple[str, ...]
    solution: bool


def _manifest(task: HarborTask, root: Path, brief: str, findings: _TaskFindings) -> str:
    environment, image = task.environment, (root / "image" / "Dockerfile").is_file()
    memory = (environment.memory_mb << 20) if environment.memory_mb else parse_size(environment.memory, MEMORY)
    disk = (environment.storage_mb << 20) if environment.storage_mb else parse_size(environment.storage, STORAGE)
    tools = [] if "harbor-mcp" in findings.needs else environment.mcp_servers
    endpoints = [] if "harbor-hosts" in findings.needs else endpoints_of(task.agent_network)
    title = " ".join((task.task.description or root.name.replace("_", " ").replace("-", " ")).split())[:200]
    tags = ["harbor", *map(TAG.format, findings.substituted)]
    seconds, origin = _seconds(task), f"a task of Harbor: {task.task.name or root.name}"
    lines = [
        f"id = {toml(root.name)}", f"title = {toml(title)}", 'version = "1"',
        f'canary = "worksample-canary-{uuid.uuid5(_NAMESPACE, task.task.name or root.name)}"', "",
        "[about]", f"provenance = {toml(origin)}", f"tags = {toml(tags)}",
        "",
        "[environment]", *(['image = "image"'] if image else []),
        *([f"services = {toml(list(findings.needs))}"] if findings.needs else []),
        f"limits = {{ time = {seconds:g}, memory = {memory}, disk = {disk}, processes = 1024 }}",
        *([f"skills = {toml(skills)}"] if (skills := _skills(environment.skills_dir or "")) else []),
        f'paths = {{ output = "{OUTPUT}" }}', *(['network = "endpoints"'] if endpoints else []), "",
    ]  # fmt: skip
    for name, port in endpoints:
        lines += ["[[environment.endpoint]]", f"name = {toml(name)}", f"port = {port}", 'to = "host"', ""]
    for server in tools:
        lines += ["[[environment.mcp]]", *(f"{key} = {toml(value)}" for key, value in mcp_of(server).items()), ""]
    if environment.healthcheck:
        lines += _health_lines("environment.health", environment.healthcheck)
    if image:
        for step in task.steps:
            lines += _step_lines(task, step, root)
        lines += ["[capture]", "root = true", ""]
        lines += [] if "harbor-collect" in findings.needs else _hook_lines(task)
    lines += [
        "[grading.program]",
        f"timeout = {task.verifier.timeout_sec or VERIFIER_TIME:.1f}",
        f"memory = {memory}",
        "",
    ]
    lines += verifier_lines(task, root) if image else []
    lines += ["[[instance]]", 'name = "task"']
    if names := setting_names(brief):  # a placeholder in the instruction is ordinary text
        lines += ["", "[instance.settings]", *(f"{toml(name)} = {toml('{{' + name + '}}')}" for name in names)]
    return "\n".join(lines) + "\n"


def _seconds(task: HarborTask) -> float:
    """Return the time limit of the whole work: the sum over all steps, plus a minute for each step."""
    given = [step.agent.timeout_sec or task.agent.timeout_sec or AGENT_TIME for step in task.steps]
    return sum(given) + 60 * len(given) if given else task.agent.timeout_sec or AGENT_TIME


def _health_lines(table: str, health: HealthCheck) -> list[str]:
    times = {key.removesuffix("_sec"): value for key, value in health.model_dump().items() if key != "command"}
    return [f"[{table}]", f"command = {toml(health.command)}", *(f"{key} = {v}" for key, v in times.items()), ""]


def _step_lines(task: HarborTask, step: HarborStep, root: Path) -> list[str]:
    name = step_name(step)
    seconds = step.agent.timeout_sec or task.agent.timeout_sec or AGENT_TIME
    lines = ["[[environment.step]]", f"name = {toml(name)}", f"folder = {toml(f'steps/{name}')}"]
    lines += [f"time = {seconds:g}", ""]
    return lines + (_health_lines("environment.step.health", step.healthcheck) if step.healthcheck else [])


def _hook_lines(task: HarborTask) -> list[str]:
    """Return the collect hooks: the task's run after every step, a step's only after that step."""
    hooks = [("", hook) for hook in task.verifier.collect]
    hooks += [(step_name(step), hook) for step in task.steps for hook in step.verifier.collect]
    lines = []
    for step, hook in hooks:
        lines += ["[[capture.collect]]", f"command = {toml(hook.command)}", f"timeout = {max(hook.timeout_sec, 1.0)}"]
        lines += [*([f"step = {toml(step)}"] if step else []), ""]
    return lines


def _skills(folder: str) -> str:
    """Return the image's skills folder as a normalised path; "" for a relative path."""
    return posixpath.normpath(folder) if folder.startswith("/") else ""


def _brief(task: HarborTask, folder: Path) -> str:
    """Return the unchanged instruction, wrapped in the sections of a brief."""
    path = folder / "instruction.md"
    instruction = path.read_text(encoding="utf-8").strip() if path.is_file() else _step_overview(task)
    deliverables = (
        "".join(f"- `{source}`\n" for source in task.sources())
        or "What the task asks for, in the place that it names.\n"
    )
    provided = "What lies in the file system where you work."
    return (
        f"## Work description\n\n{instruction}\n\n## Provided material\n\n{provided}\n\n"
        f"## Deliverables\n\n{deliverables}"
    )


def _step_overview(task: HarborTask) -> str:
    """Return the brief of a task with steps: the description and the number of steps. Each step has its own
    instruction.
    """
    about = f"{task.task.description.strip()}\n\n" if task.task.description.strip() else ""
    return about + f"The work has {len(task.steps)} steps, of which each is told when the one before is done."


def _notes(folder: Path, needs: tuple[str, ...], substituted: list[str]) -> str:
    lines = [f"Imported from Harbor's task `{folder.name}`.", ""]
    lines += [f"Not attemptable here: {', '.join(needs)}.", ""] if needs else []
    return "\n".join([*lines, *(f"Substituted: {what}." for what in substituted)]).strip() + "\n"
