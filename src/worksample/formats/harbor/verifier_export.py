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
from worksample.tasks.package_spec import InstanceSpec

from .environment_export import health_lines, list_line, toml

VERIFIER_COMMAND, SOLUTION_COMMAND = ["bash", "/tests/test.sh"], ["bash", "/solution/solve.sh"]
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
    for verifier in settings.get("step") or (settings,):
        if list(verifier["command"]) != VERIFIER_COMMAND:
            yield "a verifier other than bash /tests/test.sh"
        if verifier["solution"] and list(verifier["solution"]) != SOLUTION_COMMAND:
            yield "a solution other than bash /solution/solve.sh"
        if verifier["workdir"]:
            yield "a verifier with its own working folder"
        folder = package.root / (verifier["image"] or verifier["tests"] or "tests")
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
    for verifier in settings["step"]:
        name, step = verifier["name"], described[verifier["name"]]
        target = folder / "steps" / name
        _copy_tests(package, verifier, target / "tests")
        (target / "instruction.md").write_text(step.brief, encoding="utf-8")
        if step.files is not None:
            shutil.copytree(package.root / step.files.name, target / "workdir")
        solved = _copy_solution(verifier, reference / name, target / "solution") or solved
    return solved


def _copy_tests(package: Package, verifier: Mapping[str, Any], target: Path) -> None:
    shutil.copytree(package.root / (verifier["image"] or verifier["tests"]), target)


def _copy_solution(verifier: Mapping[str, Any], source: Path, target: Path) -> bool:
    if not verifier["solution"] or not source.is_dir():
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
    hooks = [(verifier.step, verifier) for verifier in package.collect]
    lines = _verifier_table("verifier", settings, seconds, public) if not settings.get("step") else ["[verifier]"]
    lines += [line for step, verifier in hooks if not step for line in _hook_lines("verifier", verifier.plain())]
    for verifier in settings.get("step", ()):
        step = next(each for each in environment.steps if each.name == verifier["name"])
        lines += ["", "[[steps]]", f"name = {toml(step.name)}"]
        lines += [f"min_reward = {toml(_min_reward(verifier['min_reward']))}"] if verifier["min_reward"] else []
        lines += list_line("artifacts", [each for each in verifier["artifacts"] if each != environment.paths.output])
        lines += ["", "[steps.agent]", f"timeout_sec = {toml(step.time)}"] if step.time else []
        lines += ["", *_verifier_table("steps.verifier", verifier, verifier["timeout"] or seconds, public)]
        lines += [
            line for name, hook in hooks if name == step.name for line in _hook_lines("steps.verifier", hook.plain())
        ]
        if step.health is not None:
            lines += ["", *health_lines("steps.healthcheck", step.health)]
    return lines


def _min_reward(rewards: Mapping[str, float]) -> object:
    return rewards["reward"] if list(rewards) == ["reward"] else dict(rewards)


def _hook_lines(table: str, hook: Mapping[str, Any]) -> list[str]:
    return ["", f"[[{table}.collect]]", f"command = {toml(hook['command'])}", f"timeout_sec = {toml(hook['timeout'])}"]


def _verifier_table(table: str, verifier: Mapping[str, Any], seconds: float, public: bool) -> list[str]:
    """Return a verifier's table. A separate verifier's image is built from its tests' folder, else it is the task's
    image.
    """
    separate = bool(verifier["image"] or verifier.get("fresh"))
    network = "public" if verifier["network"] == "registries" else "no-network"
    lines = [f"[{table}]", f"timeout_sec = {toml(float(seconds))}"]
    lines += [] if public and network == "public" else [f"network_mode = {toml(network)}"]
    lines += [f"user = {toml(verifier['user'])}"] if verifier["user"] else []
    lines += ['environment_mode = "separate"'] if separate else []
    lines += [f"env = {toml(dict(verifier['env']))}"] if verifier["env"] else []
    return lines + (["", f"[{table}.environment]", f"network_mode = {toml(network)}"] if separate else [])
