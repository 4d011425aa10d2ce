"""Export of a package that its own verifier grades, as a Harbor task with that verifier.

The reverse of `verifier_import`: tests, solution, steps and hooks go to the paths that Harbor expects.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from worksample.records import Environment, Protocol
from worksample.tasks import Package
from worksample.tasks.spec import InstanceSpec

from .environment_export import health_lines, list_line, toml

COMMAND, SOLVES = ["bash", "/tests/test.sh"], ["bash", "/solution/solve.sh"]
"""Commands by which Harbor runs a verifier and a solution."""
_PLAIN_GRADER = re.compile(
    r'\s*("""[^"]*"""\s*)?(from __future__ import annotations\s*)?from worksample\.kit import (verified as grade|Case, '
    r"Grade, verified\s+def grade\(case: Case\) -> Grade:\s+return verified\(case\))\s*"
)
"""Source of a grader that returns the verifier's reward unchanged."""


def settings_of(package: Package) -> Mapping[str, Any] | None:
    """Return the verifier's settings; None if any other code takes part in the grade."""
    grading = package.gradings.get(Protocol.PROGRAM)
    settings = grading.settings.get("verifier") if grading is not None else None
    if settings is None or not _PLAIN_GRADER.fullmatch((package.root / grading.entry).read_text(encoding="utf-8")):  # type: ignore[union-attr]
        return None
    return dict(settings)


def unsupported_settings(package: Package, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings of the verifier that Harbor cannot express."""
    for one in settings.get("step") or (settings,):
        if list(one["command"]) != COMMAND:
            yield "a verifier other than bash /tests/test.sh"
        if one["solution"] and list(one["solution"]) != SOLVES:
            yield "a solution other than bash /solution/solve.sh"
        if one["workdir"]:
            yield "a verifier with its own working folder"
        folder = package.root / (one["image"] or one["tests"] or "tests")
        if not (folder / "test.sh").is_file():
            yield f"a verifier without test.sh in its folder {folder.name}"


def write_verifier(package: Package, instance: InstanceSpec, settings: Mapping[str, Any], folder: Path) -> bool:
    """Write tests, steps and solutions into the task's folder; return whether any solution was written."""
    reference = package.root / instance.reference
    if not settings.get("step"):
        _copy_tests(package, settings, folder / "tests")
        return _copy_solution(settings, reference, folder / "solution")
    solved = False
    described = {step.name: step for step in instance.environment.steps}
    for one in settings["step"]:
        name, step = one["name"], described[one["name"]]
        target = folder / "steps" / name
        _copy_tests(package, one, target / "tests")
        (target / "instruction.md").write_text(step.brief, encoding="utf-8")
        if step.files is not None:
            shutil.copytree(package.root / step.files.name, target / "workdir")
        solved = _copy_solution(one, reference / name, target / "solution") or solved
    return solved


def _copy_tests(package: Package, one: Mapping[str, Any], target: Path) -> None:
    shutil.copytree(package.root / (one["image"] or one["tests"]), target)


def _copy_solution(one: Mapping[str, Any], source: Path, target: Path) -> bool:
    if not one["solution"] or not source.is_dir():
        return False
    shutil.copytree(source, target)
    return True


def verifier_lines(
    package: Package, environment: Environment, settings: Mapping[str, Any], seconds: float, *, public: bool
) -> list[str]:
    """Return the table `[verifier]`, and `[[steps]]` if the task has steps.

    seconds: the verifier's time limit. public: whether the whole task has the public internet; few of Harbor's
    environments can change the network between phases.
    """
    hooks = [(one.step, one) for one in package.collect]
    found = _verifier_table("verifier", settings, seconds, public) if not settings.get("step") else ["[verifier]"]
    found += [line for step, one in hooks if not step for line in _hook_lines("verifier", one.plain())]
    for one in settings.get("step", ()):
        step = next(each for each in environment.steps if each.name == one["name"])
        found += ["", "[[steps]]", f"name = {toml(step.name)}"]
        found += [f"min_reward = {toml(_min_reward(one['min_reward']))}"] if one["min_reward"] else []
        found += list_line("artifacts", [each for each in one["artifacts"] if each != environment.paths.output])
        found += ["", "[steps.agent]", f"timeout_sec = {toml(step.time)}"] if step.time else []
        found += ["", *_verifier_table("steps.verifier", one, one["timeout"] or seconds, public)]
        found += [
            line for name, hook in hooks if name == step.name for line in _hook_lines("steps.verifier", hook.plain())
        ]
        if step.health is not None:
            found += ["", *health_lines("steps.healthcheck", step.health)]
    return found


def _min_reward(given: Mapping[str, float]) -> object:
    return given["reward"] if list(given) == ["reward"] else dict(given)


def _hook_lines(table: str, hook: Mapping[str, Any]) -> list[str]:
    return ["", f"[[{table}.collect]]", f"command = {toml(hook['command'])}", f"timeout_sec = {toml(hook['timeout'])}"]


def _verifier_table(table: str, one: Mapping[str, Any], seconds: float, public: bool) -> list[str]:
    """Return a verifier's table. A separate verifier's image is built from its tests' folder, else it is the task's
    image.
    """
    separate = bool(one["image"] or one.get("fresh"))
    network = "public" if one["network"] == "registries" else "no-network"
    found = [f"[{table}]", f"timeout_sec = {toml(float(seconds))}"]
    found += [] if public and network == "public" else [f"network_mode = {toml(network)}"]
    found += [f"user = {toml(one['user'])}"] if one["user"] else []
    found += ['environment_mode = "separate"'] if separate else []
    found += [f"env = {toml(dict(one['env']))}"] if one["env"] else []
    return found + (["", f"[{table}.environment]", f"network_mode = {toml(network)}"] if separate else [])
