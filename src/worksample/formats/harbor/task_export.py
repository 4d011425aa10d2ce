"""Export of a package as Harbor tasks, one for each instance, with the package's grader as the verifier.

The verifier is `separate`: reference and grader are in its own image, which the agent never sees, and the deliverables
reach it as an artifact. If the grader fails, Harbor gets no reward, rather than a reward of 0.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import UsageError
from worksample.records import Protocol
from worksample.tasks import Package, read_package
from worksample.tasks.package_spec import InstanceSpec

from . import verifier_export as verifier_out
from .bundled_kit import copy_kit, requirements
from .environment_export import environment_lines, toml
from .package_layout import FROM, TAG, USER, WITHOUT_INTERNET

BASE = "python:3.12-slim"
TESTS = "/tests"
_PLATFORM_CALL = re.compile(r"\bcase\.(run|ask)\(|\b(verified|executable)\(")
_TEST = f"""#!/bin/sh
# Grades /logs and the output as Worksample does. If the grader fails, no reward is written: a failure is not a 0.
mkdir -p /logs/verifier
export PYTHONPATH={TESTS}/lib PYTHONDONTWRITEBYTECODE=1
python3 -P -m worksample.kit {TESTS}/case.json || exit 1
exec python3 {TESTS}/reward.py
"""
_REWARD = '''"""Writes the reward of a grade; no reward if the grader failed."""

import json
import sys

with open("/tmp/result.json") as file:
    result = json.load(file)
if "grade" not in result:
    sys.exit(f"ungraded: {result['failed']}: {result['reason']}")
with open("/logs/verifier/grade.json", "w") as file:
    json.dump(result["grade"], file)
with open("/logs/verifier/reward.json", "w") as file:
    json.dump({"reward": result["grade"]["score"]}, file)
'''
_PIP = "ENV PIP_BREAK_SYSTEM_PACKAGES=1\nRUN python3 -m pip install --no-cache-dir --quiet {}\n"


@dataclass(frozen=True, slots=True)
class ExportHarbor:
    """Settings of an export."""

    base: str = BASE
    """The base image for tasks without an image, and for graders: Debian or Ubuntu with Python 3.11 or newer and pip.
    """
    organisation: str = "worksample"
    """The first half of the tasks' names."""
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class ExportedPackage:
    """The result for one instance."""

    instance: str
    folder: str
    """The written folder; "" if the instance cannot be exported."""
    lacks: tuple[str, ...] = ()
    """Features of the instance that Harbor cannot express."""
    software: tuple[str, ...] = ()
    """Commands that the task expects. The operator must check that the base image has them."""
    solution: bool = False
    """Whether a full-score submission is known. Harbor's agent `oracle` submits it."""


def export_harbor(source: Path, target: Path, config: ExportHarbor | None = None) -> Iterator[ExportedPackage]:
    """Write a Harbor task below `target` for each instance of the package `source`; yield the result for each.

    Raises ManifestError for a faulty package, UsageError if a task's folder exists already.
    """
    config = config or ExportHarbor()
    package = read_package(source)
    whole = _package_obstacles(package)
    for instance in package.instances:
        lacks = (*whole, *_instance_obstacles(package, instance))
        if lacks:
            yield ExportedPackage(f"{package.id}/{instance.name}", "", lacks)
            continue
        folder = Path(target) / f"{package.id}--{instance.name}"
        if folder.exists():
            if not config.overwrite:
                raise UsageError(f"{folder} exists", next="worksample export harbor --overwrite PACKAGE OUT")
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        solution = _write_task(package, instance, folder, config)
        yield ExportedPackage(f"{package.id}/{instance.name}", str(folder), (), instance.environment.software, solution)


def _package_obstacles(package: Package) -> list[str]:
    """Return the features of the whole package that Harbor cannot express."""
    found = []
    if Protocol.PROGRAM not in package.gradings:
        found.append("no grading program")
    elif verifier_out.settings_of(package) is not None:
        found += dict.fromkeys(verifier_out.unsupported_settings(package, verifier_out.settings_of(package) or {}))
    elif package.collect:
        found.append("collect hooks for a grading program")
    elif {leaf.by for leaf in package.criteria.leaves} - {"program"}:
        found.append("criteria that people or judges answer")
    else:
        entry = package.root / package.gradings[Protocol.PROGRAM].entry
        if any(_PLATFORM_CALL.search(path.read_text(encoding="utf-8")) for path in (entry, *package.root.glob("*.py"))):
            found.append("a grader that asks the platform to run or judge something")
    if package.probes:
        found.append("probes at the end of a trial")
    return found


def _instance_obstacles(package: Package, instance: InstanceSpec) -> Iterator[str]:
    """Yield the features of one instance that Harbor cannot express."""
    environment = instance.environment
    if environment.served or environment.workplace or environment.services:
        yield "services"
    if environment.steps and verifier_out.settings_of(package) is None:
        yield "steps graded by a grading program"
    if any(one.to != "host" for one in environment.endpoints):
        yield "endpoints that lead to a model or service"
    if environment.image is not None and not (package.root / environment.image.name / "Dockerfile").is_file():
        yield "an image without a Dockerfile"


def _write_task(package: Package, instance: InstanceSpec, folder: Path, config: ExportHarbor) -> bool:
    """Write one instance; return whether a solution is known."""
    environment, tests = folder / "environment", folder / "tests"
    if not instance.environment.steps:  # each step has its own instruction
        (folder / "instruction.md").write_text(instance.brief.strip() + "\n", encoding="utf-8")
    image = instance.environment.image
    if image is not None:
        shutil.copytree(package.root / image.name, environment)
    else:
        environment.mkdir()
        text = f"FROM {config.base}\n" + _PIP.format(" ".join(requirements()))
        (environment / "Dockerfile").write_text(text, encoding="utf-8")
    settings = verifier_out.settings_of(package)
    _lay_out(package, instance, environment, own=settings is not None)
    (folder / "task.toml").write_text(_manifest(package, instance, config, settings), encoding="utf-8")
    if settings is not None:
        return verifier_out.write_verifier(package, instance, settings, folder)
    tests.mkdir()
    copy_kit(tests / "lib")
    for name, source in (("reference", instance.reference), ("input", instance.inputs)):
        _copy(package.root / source, tests / name)
    _copy_grader(package, tests / "grader")
    for name, text in (("test.sh", _TEST), ("reward.py", _REWARD), ("case.json", _case(package, instance))):
        (tests / name).write_text(text, encoding="utf-8")
    own = f"FROM {config.base}\n" + _PIP.format(" ".join(requirements())) + f"COPY . {TESTS}/\n"
    (tests / "Dockerfile").write_text(own, encoding="utf-8")
    right = _solution(package, instance)
    if right is not None:
        _copy(right, folder / "solution" / "output")
        script = f"#!/bin/sh\nset -e\ncp -R /solution/output/. {instance.environment.paths.output}/\n"
        (folder / "solution" / "solve.sh").write_text(script, encoding="utf-8")
    return right is not None


def _lay_out(package: Package, instance: InstanceSpec, environment: Path, *, own: bool) -> None:
    """Append lines to the image's Dockerfile that create the folders of the work.

    own: whether the task has its own verifier. The agent then starts in the image's working folder, else in
    `/task/scratch`.
    """
    paths, lines = instance.environment.paths, []
    name = ".worksample-input"  # a name that does not clash with files of the image's author
    _copy(package.root / instance.inputs, environment / name)
    lines += ["USER root", f"COPY {name} {paths.input}"]
    if (package.root / "software").is_dir():
        _copy(package.root / "software", environment / ".worksample-software")
        lines.append(f"COPY .worksample-software {paths.software}")
    made = f"{paths.output} {paths.software} /task/scratch"
    lines.append(f"RUN mkdir -p {made} && chmod 777 {paths.output} /task/scratch")
    lines += [] if own else ["WORKDIR /task/scratch"]
    path = environment / "Dockerfile"
    text = path.read_text(encoding="utf-8").rstrip("\n")
    lines += [f"USER {users[-1]}"] if (users := USER.findall(FROM.split(text)[-1])) else []
    path.write_text("\n".join([text, *lines]) + "\n", encoding="utf-8")


def _case(package: Package, instance: InstanceSpec) -> str:
    grading = package.gradings[Protocol.PROGRAM]
    folders = {name: f"{TESTS}/{name}" for name in ("grader", "reference", "input")}
    return json.dumps(
        {
            "entry": grading.entry,
            "settings": {**grading.settings, **instance.settings},
            "criteria": package.criteria.plain(),
            "folders": {**folders, "output": instance.environment.paths.output},
            "result": "/tmp/result.json",
        },
        indent=1,
        default=str,
    )


def _copy_grader(package: Package, target: Path) -> None:
    """Copy the package's files that belong to the grader, without brief, inputs and reference."""
    apart = {*package.apart, "cases", "software"}

    def left_out(folder: str, names: list[str]) -> set[str]:
        above = Path(folder).relative_to(package.root).as_posix()
        return {name for name in names if (name if above == "." else f"{above}/{name}") in apart}

    shutil.copytree(package.root, target, ignore=left_out)


def _solution(package: Package, instance: InstanceSpec) -> Path | None:
    """Return the folder of a full-score submission: the one that `task check` uses, else a test case that must score
    1.
    """
    cases = package.root / "cases" / "reference"
    for folder in (cases / instance.name / "output", cases / "output"):
        if folder.is_dir():
            return folder
    reference = package.root / instance.reference
    wanted = [one.name.removesuffix("/") for one in instance.deliverables if one.required]
    if wanted and all(any(reference.glob(name)) for name in wanted):
        return reference
    full = (case for case in package.cases if case.instance == instance.name and case.low == 1.0)
    return next((case.output for case in full if case.base == "nothing"), None)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.mkdir(parents=True)


def _manifest(package: Package, instance: InstanceSpec, config: ExportHarbor, own: Mapping[str, Any] | None) -> str:
    """Return `task.toml`. own: settings of the task's own verifier; None if the package's grader is the verifier."""
    environment, limits = instance.environment, instance.environment.limits
    grading = package.gradings[Protocol.PROGRAM].settings
    seconds = float(grading.get("timeout", 600.0))
    public = TAG.format(WITHOUT_INTERNET) in package.about.tags
    title = f"{package.title}: {instance.title}"
    if own is None:
        verifier = ["[verifier]", f"timeout_sec = {seconds:.1f}", 'environment_mode = "separate"', ""]
        verifier += ["[verifier.environment]", 'network_mode = "no-network"']
        verifier += [f"memory_mb = {int(grading.get('memory', 2 << 30)) >> 20}"]
        artifacts = [environment.paths.output]
    else:
        verifier = verifier_out.verifier_lines(package, environment, own, seconds, public=public)
        artifacts = [one for one in own["artifacts"] if one != environment.paths.output]
    return "\n".join([
        'schema_version = "1.4"', f"artifacts = {toml(artifacts)}",
        *(['multi_step_reward_strategy = "final"'] if own and own.get("strategy") == "final" else []), "",
        "[task]", f"name = {toml(f'{config.organisation}/{package.id}--{instance.name}')}",
        f"description = {toml(title)}", f"version = {toml(package.version)}", "",
        "[metadata]", f"canary = {toml(package.canary)}", f"category = {toml(package.about.category)}", "",
        *environment_lines(environment, public=public), "",
        *(["[agent]", f"timeout_sec = {float(limits.time):.1f}", ""] if limits.time else []),
        *verifier, "",
    ])  # fmt: skip
