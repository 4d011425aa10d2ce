"""`worksample import harbor`: one package per task, complete in itself but for the bases of its images."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import ImportFailed, UsageError
from worksample.tasks import read_package
from worksample.tasks.brief import places

from .manifest import FILE, HarborTask, read_task, size_of
from .needs import endpoints_of, filled, mcp_of, needs_of
from .substitutes import with_own_uv

_NAMESPACE = uuid.UUID("c1b3c3a6-1f0e-5d0e-8a53-0d9a5a1f3d52")
_SLUG = re.compile(r"[^a-z0-9._-]+")
FROM, USER = re.compile(r"^\s*FROM\s", re.I | re.M), re.compile(r"^\s*USER\s+(\S+)", re.I | re.M)
OUTPUT = "/logs/artifacts"
"""Where Harbor looks for files that are named nowhere."""
MEMORY, STORAGE = 2 << 30, 10 << 30
AGENT_TIME, VERIFIER_TIME = 600.0, 600.0
_GRADE = '''"""Grades by the task's own verifier, and the reward that it leaves."""

from worksample.kit import Case, Grade, verified


def grade(case: Case) -> Grade:
    return verified(case)
'''


@dataclass(frozen=True, slots=True)
class ImportHarbor:
    """How tasks are imported."""

    without_internet: bool = False
    """Give no network where a task wants all of it, and say so, in place of leaving it as not attemptable."""
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """One package written."""

    name: str
    package: str
    needs: tuple[str, ...]
    """What is not available here; with any the instance is not attemptable."""
    substituted: tuple[str, ...]
    """What was changed so that it can be had here."""
    solution: bool


def import_harbor(source: Path, target: Path, config: ImportHarbor | None = None) -> Iterator[Imported]:
    """Write a package below `target` for each task at or below `source`, one after the other.

    Raises UsageError where there is none, ImportFailed for one that is faulty.
    """
    folders = sorted(path.parent for path in Path(source).rglob(FILE) if (path.parent / "instruction.md").is_file())
    stepped = (path.parent for path in Path(source).rglob(FILE) if (path.parent / "steps").is_dir())
    folders += sorted(set(stepped) - set(folders))
    if not folders:
        raise UsageError(f"no task of Harbor's lies below {source}", next="worksample import harbor FOLDER OUT")
    names: set[str] = set()
    for folder in folders:
        name = _name(folder, names)
        names.add(name)
        yield _write(folder, Path(target) / name, config or ImportHarbor())


def _name(folder: Path, taken: set[str]) -> str:
    name = _SLUG.sub("-", folder.name.lower()).strip("-._")[:90] or "task"
    return name if name not in taken else f"{name}-{uuid.uuid5(_NAMESPACE, str(folder)).hex[:8]}"


def _write(folder: Path, root: Path, config: ImportHarbor) -> Imported:
    task = read_task(folder)
    if root.exists():
        if not config.overwrite:
            raise UsageError(f"{root} exists", next="worksample import harbor --overwrite FOLDER OUT")
        shutil.rmtree(root)
    root.mkdir(parents=True)
    needs = needs_of(task, folder, without_internet=config.without_internet)
    substituted = _files(task, folder, root)
    if task.agent_network[0] == "public" and config.without_internet:
        substituted.append("no network for the whole internet")
    image = (root / "image" / "Dockerfile").is_file()
    solution = image and (root / "reference" / "solve.sh").is_file()
    brief = _brief(task, folder)
    (root / FILE).write_text(_manifest(task, root, brief, _Told(needs, tuple(substituted), solution)), encoding="utf-8")
    (root / "brief.md").write_text(brief, encoding="utf-8")
    (root / "grade.py").write_text(_GRADE, encoding="utf-8")
    (root / "notes.md").write_text(_notes(folder, needs, substituted), encoding="utf-8")
    read_package(root)
    return Imported(root.name, str(root), needs, tuple(substituted), solution)


def _files(task: HarborTask, folder: Path, root: Path) -> list[str]:
    """Lay out image, tests and solution; what was substituted in them."""
    for name in ("inputs", "reference"):
        (root / name).mkdir()
    _copy(folder / "solution", root / "reference")
    _copy(folder / "tests", root / "tests")
    told = []
    environment = task.environment
    if (folder / "environment" / "Dockerfile").is_file():
        _copy(folder / "environment", root / "image")
    elif environment.docker_image:
        (root / "image").mkdir()
        (root / "image" / "Dockerfile").write_text(f"FROM {environment.docker_image}\n", encoding="utf-8")
    own = task.verifier.environment.docker_image if task.verifier.environment_mode == "separate" else ""
    if own and not (root / "tests" / "Dockerfile").is_file():
        text = f"FROM {own}\nCOPY . /tests/\n"
        (root / "tests").mkdir(exist_ok=True)
        (root / "tests" / "Dockerfile").write_text(text, encoding="utf-8")
    for path in (root / "image" / "Dockerfile", root / "tests" / "Dockerfile", root / "tests" / "test.sh"):
        if path.is_file():
            text, changed = with_own_uv(path.read_text(encoding="utf-8"))
            if path.parent.name == "image":
                text = text.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in _settings(task, text))
            path.write_text(text, encoding="utf-8")
            told += ["uv from PyPI"] if changed and "uv from PyPI" not in told else []
    return told


def _settings(task: HarborTask, text: str) -> list[str]:
    """What the manifest says of the environment, and the folders that Harbor mounts, as lines of a Dockerfile."""
    users = USER.findall(FROM.split(text)[-1])
    lines = ["RUN mkdir -p /logs/agent /logs/verifier /logs/artifacts && chmod 777 /logs/*"]
    lines = ["USER root", *lines, f"USER {users[-1]}"] if users else lines
    lines += [f"ENV {key}={json.dumps(filled(value))}" for key, value in task.environment.env.items()]
    lines += [f"WORKDIR {task.environment.workdir}"] if task.environment.workdir else []
    return lines + ([f"USER {task.agent.user}"] if task.agent.user is not None else [])


def _copy(source: Path, target: Path) -> None:
    """A folder with what its links lead to in their places. ImportFailed where one leads out of it."""
    if not source.is_dir():
        return
    top = source.resolve()
    for path in source.rglob("*"):
        if path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(top)):
            raise ImportFailed(f"{path.name} is a link that leads out of the folder, or nowhere", where=str(source))
    shutil.copytree(source, target, dirs_exist_ok=True)


@dataclass(frozen=True, slots=True)
class _Told:
    """What was found out of a task while its files were laid out."""

    needs: tuple[str, ...]
    substituted: tuple[str, ...]
    solution: bool


def _manifest(task: HarborTask, root: Path, brief: str, told: _Told) -> str:
    environment, image = task.environment, (root / "image" / "Dockerfile").is_file()
    memory = (environment.memory_mb << 20) if environment.memory_mb else size_of(environment.memory, MEMORY)
    disk = (environment.storage_mb << 20) if environment.storage_mb else size_of(environment.storage, STORAGE)
    tools = [] if "harbor-mcp" in told.needs else environment.mcp_servers
    endpoints = [] if "harbor-hosts" in told.needs else endpoints_of(task.agent_network)
    title = " ".join((task.task.description or root.name.replace("_", " ").replace("-", " ")).split())[:200]
    tags = ["harbor", *(f"substituted: {what}" for what in told.substituted)]
    seconds, origin = task.agent.timeout_sec or AGENT_TIME, f"a task of Harbor: {task.task.name or root.name}"
    lines = [
        f"id = {_toml(root.name)}", f"title = {_toml(title)}", 'version = "1"',
        f'canary = "worksample-canary-{uuid.uuid5(_NAMESPACE, task.task.name or root.name)}"', "",
        "[about]", f"provenance = {_toml(origin)}", f"tags = {_toml(tags)}",
        "",
        "[environment]", *(['image = "image"'] if image else []),
        *([f"services = {_toml(list(told.needs))}"] if told.needs else []),
        f"limits = {{ time = {seconds:g}, memory = {memory}, disk = {disk}, processes = 1024 }}",
        *([f"skills = {_toml(skills)}"] if (skills := _skills(environment.skills_dir or "")) else []),
        f'paths = {{ output = "{OUTPUT}" }}', *(['network = "endpoints"'] if endpoints else []), "",
    ]  # fmt: skip
    for name, port in endpoints:
        lines += ["[[environment.endpoint]]", f"name = {_toml(name)}", f"port = {port}", 'to = "host"', ""]
    for server in tools:
        lines += ["[[environment.mcp]]", *(f"{key} = {_toml(value)}" for key, value in mcp_of(server).items()), ""]
    if health := environment.healthcheck:
        times = {key.removesuffix("_sec"): value for key, value in health.model_dump().items() if key != "command"}
        lines += ["[environment.health]", f"command = {_toml(health.command)}"]
        lines += [*(f"{key} = {value}" for key, value in times.items()), ""]
    lines += ["[capture]", "root = true", ""] if image else []
    lines += [
        "[grading.program]",
        f"timeout = {task.verifier.timeout_sec or VERIFIER_TIME:.1f}",
        f"memory = {memory}",
        "",
    ]
    lines += _verifier(task, root, told.solution) if image else []
    lines += ["[[instance]]", 'name = "task"']
    if names := places(brief):  # what looks like a setting of ours in somebody else's text stands for itself
        lines += ["", "[instance.settings]", *(f"{_toml(name)} = {_toml('{{' + name + '}}')}" for name in names)]
    return "\n".join(lines) + "\n"


def _skills(folder: str) -> str:
    """Where the image has skills, as a plain path; one that hangs on where a command runs names no place."""
    return posixpath.normpath(folder) if folder.startswith("/") else ""


def _verifier(task: HarborTask, root: Path, solution: bool) -> list[str]:
    """Uploaded tests lie beside the work; a separate verifier has them in its own image."""
    verifier = task.verifier
    separate = verifier.environment_mode == "separate"
    lines = ["[grading.program.verifier]", 'command = ["bash", "/tests/test.sh"]']
    lines += ['image = "tests"', f"artifacts = {_toml([*task.sources, OUTPUT])}"] if separate else ['tests = "tests"']
    lines += ['solution = ["bash", "/solution/solve.sh"]'] if solution else []
    lines += [f"user = {_toml(str(verifier.user))}"] if verifier.user is not None else []
    lines += ['network = "registries"'] if task.verifier_network[0] != "no-network" else []
    env = {**(verifier.environment.env if separate else {}), **verifier.env}
    if env:
        lines += ["", "[grading.program.verifier.env]"]
        lines += [f"{_toml(key)} = {_toml(filled(value))}" for key, value in env.items()]
    return [*lines, ""]


def _brief(task: HarborTask, folder: Path) -> str:
    """The instruction unchanged; around it only what a brief has to say."""
    path = folder / "instruction.md"
    said = path.read_text(encoding="utf-8").strip() if path.is_file() else "See the steps."
    left = (
        "".join(f"- `{source}`\n" for source in task.sources) or "What the task asks for, in the place that it names.\n"
    )
    provided = "What lies in the file system where you work."
    return f"## Work description\n\n{said}\n\n## Provided material\n\n{provided}\n\n## Deliverables\n\n{left}"


def _notes(folder: Path, needs: tuple[str, ...], substituted: list[str]) -> str:
    lines = [f"Imported from Harbor's task `{folder.name}`.", ""]
    lines += [f"Not attemptable here: {', '.join(needs)}.", ""] if needs else []
    return "\n".join([*lines, *(f"Substituted: {what}." for what in substituted)]).strip() + "\n"


def _toml(value: str | bool | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
