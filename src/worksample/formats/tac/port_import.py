"""Import of TheAgentCompany's tasks from the installed port, `inspect_evals`.

A package is complete except for the evaluator, which stays in `inspect_evals`.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from worksample.box import BoxConfig, Mount
from worksample.errors import ImportFailed, UsageError
from worksample.formats.package_writer import Packages, PendingPackage, write_packages
from worksample.records import Paths
from worksample.sandboxes import open_box

from .company import SERVICES, TASKS_WITH_ALL_DOCUMENTS, services_for, write_company
from .evaluator_analysis import DATA, UTILS, WORKSPACE
from .published_task import REINSTALL, PublishedTask, find_source, read_all

_NAMESPACE = uuid.UUID("5b0d7f0e-6f2a-5d39-9a2b-6a4f7b1f6c11")
_DATABASE_COMMAND = re.compile(rf"sqlite3 {DATA}/(\S+) < {DATA}/(\S+)")
"""A command that creates a database from an SQL script."""
_PYTHON_SQLITE = """
import pathlib, sqlite3, sys
target, script = sys.argv[1:]
base = sqlite3.connect(target)
base.executescript(pathlib.Path(script).read_text())
base.commit()
"""


@dataclass(frozen=True, slots=True)
class ImportedTacTask:
    """A package that was written."""

    name: str
    package: Path
    runnable: bool
    """Whether the task can run here; if not, `needs` lists what is missing."""
    needs: tuple[str, ...]
    judge: bool


def import_tac(
    target: Path,
    *,
    tasks: Sequence[str] = (),
    as_published: bool = False,
    overwrite: bool = False,
    documents: Path | None = None,
    skip_faulty: bool = False,
) -> Packages[ImportedTacTask]:
    """Write a package below `target` for each named task, by default for all. Existing packages are kept, unless
    `overwrite`.

    documents: a folder with the files on ownCloud, from its root folder on; by default those that the port contains.
    as_published: the published images have the ground truth of some tasks in /utils, within the agent's reach. An
    import moves it to the reference; with `as_published` it also stays in the inputs, for an audit of the published
    tasks.

    Raises ImportFailed, UsageError; FaultyPackages, after all others are written, if some are faulty, unless
    `skip_faulty`.
    """
    folder, version = find_source()
    found = {p.name: p for p in read_all(folder, version)}
    unknown = sorted(set(tasks) - found.keys())
    if unknown:
        raise UsageError(f"no such task: {', '.join(unknown)}", next="worksample import tac --list")
    pending = [
        PendingPackage(name, found[name].id, partial(_write_task, found[name], as_published, documents))
        for name in (tasks or found)
    ]
    return write_packages(pending, target, overwrite=overwrite, skip_faulty=skip_faulty, next=REINSTALL)


def installed_tasks() -> list[PublishedTask]:
    """Return the tasks of the installed port."""
    return read_all(*find_source())


def _write_task(task: PublishedTask, as_published: bool, documents: Path | None, root: Path) -> ImportedTacTask:
    for name in ("inputs", "reference"):
        (root / name).mkdir(parents=True)
    _copy_files(task, root, as_published)
    (root / "task.toml").write_text(_manifest(task), encoding="utf-8")
    (root / "brief.md").write_text(_brief(task), encoding="utf-8")
    criteria = _criteria(task, as_published)
    if criteria:
        (root / "criteria.toml").write_text(criteria, encoding="utf-8")
    (root / "grade.py").write_text(_GRADE.format(name=task.name), encoding="utf-8")
    needs = (*task.needs, *(("documents on ownCloud",) if _lacks_documents(task, documents) else ()))
    (root / "notes.md").write_text(_notes(task, needs), encoding="utf-8")
    if task.services:
        write_company(root / "company", task, documents)
    return ImportedTacTask(task.name, root.parent.parent / root.name, not needs, needs, task.evaluator_needs.judge)


def _lacks_documents(task: PublishedTask, documents: Path | None) -> bool:
    return "owncloud" in task.services and documents is None and task.name not in TASKS_WITH_ALL_DOCUMENTS


def _copy_files(task: PublishedTask, root: Path, as_published: bool) -> None:
    for item in task.copied:
        if item.target.startswith(f"{UTILS}/"):
            _copy_file(item.source, root / "reference" / item.target.removeprefix(f"{UTILS}/"))
            if as_published:
                _copy_file(item.source, root / "inputs" / "utils" / item.target.removeprefix(f"{UTILS}/"))
        elif item.target.startswith(f"{WORKSPACE}/"):
            _copy_file(item.source, root / "inputs" / item.target.removeprefix(f"{WORKSPACE}/"))
        elif item.target.startswith(f"{DATA}/"):
            _copy_file(item.source, root / "inputs" / item.target.removeprefix(f"{DATA}/"))
    for build in task.builds:
        match = _DATABASE_COMMAND.fullmatch(build)
        if match:
            asyncio.run(_write_database(root / "inputs", match[1], match[2]))


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


async def _write_database(inputs: Path, database: str, script: str) -> None:
    """Run an untrusted SQL script in a box and write the database that it creates into the inputs."""
    config = BoxConfig(mounts=(Mount(str(inputs.resolve()), "/in"),), python="toolbox", label="import tac")
    async with open_box(config) as box:
        argv = ["python3", "-c", _PYTHON_SQLITE, f"{config.output}/{database}", f"/in/{script}"]
        done = await box.run(argv, timeout=60)
        if done.returncode:
            raise ImportFailed(done.stderr.decode("utf-8", "replace")[-500:], where=script, next=REINSTALL)
        data = await box.read(f"{config.output}/{database}", 256 << 20)
    (inputs / database).write_bytes(data)


def _manifest(task: PublishedTask) -> str:
    title = task.name.split("_", 1)[1].replace("_", " ").capitalize()
    department = {"ml": "ds", "research": "other"}.get(task.name.split("_", 1)[0], task.name.split("_", 1)[0])
    asks = _expectations(task)
    lines = [
        f"id = {_toml(task.id)}",
        f"title = {_toml(title)}",
        f"version = {_toml(task.version)}",
        f'canary = "{canary_of(task.name)}"',
        "",
        "[about]",
        f'category = "tac:{department}"',
        'licence = "MIT"',
        f'provenance = "TheAgentCompany, as ported by inspect_evals {task.version}"',
        "",
        "[environment]",
        'interfaces = ["terminal", "browser"]',
        *_workplace(task),
        "limits = { time = 3600, turns = 100 }",
        *(["copied_inputs = true"] if task.workspace_files else []),
        f'paths = {{ input = "{_input_place(task)}", output = "{WORKSPACE}", reference = "{UTILS}" }}',
        "",
        "[deliverables]",
        *(f"{_toml(n)} = {{ format = {_toml(_format(n))}, required = true }}" for n in task.expected_files),
        "",
        "[grading.checkpoints]",
        "timeout = 180",
        *(["workplace = true"] if set(task.evaluator_needs.services) & set(SERVICES) else []),
        *(["writable = true"] if task.evaluator_needs.writes else []),
        f"settings = {{ evaluator = {_toml(task.name)}, version = {_toml(task.version)}, asks = {asks} }}",
        "",
        "[[instance]]",
        'name = "example"',
    ]
    return "\n".join(lines) + "\n"


def _input_place(task: PublishedTask) -> str:
    """Return the path of the inputs: /data, unless they are the files of /workspace, which are copied there."""
    return Paths().input if task.workspace_files else DATA


def canary_of(name: str) -> str:
    """Return the canary of a task's package. It is the same in every import."""
    return f"worksample-canary-{uuid.uuid5(_NAMESPACE, name)}"


def _workplace(task: PublishedTask) -> list[str]:
    """Return the settings of the workplace, whose services answer as the products in the task's image."""
    if not task.services:
        return []
    return [
        'network = "workplace"',
        'company = "company"',
        f"services = {json.dumps(services_for(task.services))}",
        f"dialects = {json.dumps(list(task.services))}",
    ]


def _format(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else "files"


def _expectations(task: PublishedTask) -> str:
    """Return the evaluator's expectations as a TOML table. The audit needs them, as the evaluator is outside the
    package.
    """
    asks = {
        "files": task.evaluator_needs.files,
        "columns": task.evaluator_needs.columns,
        "patterns": task.evaluator_needs.patterns,
    }
    entries = [f"{name} = {_list(values)}" for name, values in asks.items() if values]
    entries += [f"points = {list(task.evaluator_needs.points)}"] if task.evaluator_needs.points else []
    return "{ " + ", ".join(entries) + " }" if entries else "{}"


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _brief(task: PublishedTask) -> str:
    """Return the unchanged prompt, followed by lists of the provided files and the deliverables."""
    provided = sorted(c.target for c in task.copied if not c.target.startswith(f"{UTILS}/"))
    provided += [f"{DATA}/{m[1]}" for b in task.builds if (m := _DATABASE_COMMAND.fullmatch(b))]
    sections = {
        "Work description": task.prompt,
        "Provided material": _bullets(provided, "Nothing but the services named above."),
        "Deliverables": _deliverables(task),
    }
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items()) + "\n"


def _deliverables(task: PublishedTask) -> str:
    """Return the list of deliverable files. If the prompt alone tells where they belong, refer to the prompt."""
    files = [*(f"{WORKSPACE}/{n}" for n in task.prompted_files), *(f"{DATA}/{n}" for n in task.evaluator_needs.outside)]
    return _bullets(files, "As described above, in the place that is named there.")


def _bullets(items: Iterable[str], none: str) -> str:
    lines = [f"- `{item}`" for item in items]
    return "\n".join(lines) or none


def _criteria(task: PublishedTask, as_published: bool) -> str:
    """Return the published checkpoints as `criteria.toml`.

    Points are the evaluator's own; "" if it has another number of checkpoints than published. With `as_published`,
    points are those of the published text.
    """
    points = task.evaluator_needs.points or ()
    if not as_published and len(points) != len(task.checkpoints):
        return ""
    out = []
    for index, point in enumerate(task.checkpoints):
        text = point.text or f"Checkpoint {point.number}"
        worth = point.points if as_published else points[index]
        out.append(f'[[criterion]]\nid = "checkpoint-{point.number}"\ntext = {_toml(text)}\npoints = {worth}\n')
    return "\n".join(out)


def _notes(task: PublishedTask, wanted: tuple[str, ...]) -> str:
    needs = f"Running it needs {', '.join(wanted)}." if wanted else "Running it needs nothing else."
    grading = (
        f" Grading needs {', '.join(task.grading_needs)}; without, the submission stays ungraded."
        if task.grading_needs
        else ""
    )
    text = f"{needs} Graded by the evaluator of inspect_evals {task.version}, unmodified.{grading}\n"
    listed = [f"{c.number}. ({c.points} points) {c.text}" for c in task.checkpoints]
    return "\n".join([text, *(["Its published checkpoints:", "", *listed] if listed else [])]).rstrip() + "\n"


_GRADE = '''"""Grades with TheAgentCompany's own evaluator, from the installed inspect_evals."""

from worksample.formats.tac.evaluate import evaluate
from worksample.kit import Case, Grade


def grade(case: Case) -> Grade:
    return evaluate(case, "{name}")
'''
