"""A Harbor task's verifier, or that of each step, as lines of a package's `task.toml`."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .package_layout import OUTPUT, step_name, tests_of
from .task_toml import HarborStep, HarborTask
from .unsupported_requirements import with_defaults

VERIFIER_TIME = 600.0
_LARGEST_TEST = 4 << 20
_LOOPBACK = re.compile(rb"\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b|/dev/tcp/|\[::1?\]")


def toml(value: str | bool | list[str]) -> str:
    """Return a value as TOML."""
    return json.dumps(value, ensure_ascii=False)


def verifier_lines(task: HarborTask, root: Path) -> list[str]:
    """Return the tables `[grading.program.verifier]` of the package `root`, whose files are laid out already."""
    if not task.steps:
        return _verifier_table(task, None, root, "[grading.program.verifier]")
    lines = ["[grading.program.verifier]", f"strategy = {toml(task.multi_step_reward_strategy or 'mean')}", ""]
    for step in task.steps:
        lines += _verifier_table(task, step, root, "[[grading.program.verifier.step]]")
    return lines


def _verifier_table(task: HarborTask, step: HarborStep | None, root: Path, head: str) -> list[str]:
    """Return the table of one verifier. A separate verifier with a Dockerfile has its tests in its own image; else they
    are uploaded.
    """
    user = step.verifier.user if step is not None and step.verifier.user is not None else task.verifier.user
    separate, own = task.separate(step), task.verifier_environment(step)
    tests = tests_of(root, step)
    folder = tests.relative_to(root).as_posix()
    solution = root / "reference" / (step_name(step) if step is not None else "") / "solve.sh"
    lines = [head, *([f"name = {toml(step_name(step))}"] if step is not None else [])]
    lines.append('command = ["bash", "/tests/test.sh"]')
    if separate and (tests / "Dockerfile").is_file():
        lines.append(f"image = {toml(folder)}")
    else:
        lines += [f"tests = {toml(folder)}", *(["fresh = true"] if separate else [])]
    lines += [f"artifacts = {toml(list(dict.fromkeys([*task.sources(step), OUTPUT])))}"] if separate else []
    lines += ["live = true"] if step is None and not separate and looks_at_services(tests) else []
    lines += ['solution = ["bash", "/solution/solve.sh"]'] if solution.is_file() else []
    lines += [f"user = {toml(str(user))}"] if user is not None else []
    lines += ['network = "registries"'] if task.verifier_network(step)[0] != "no-network" else []
    if step is not None:
        seconds = step.verifier.timeout_sec or task.verifier.timeout_sec or VERIFIER_TIME
        lines += [f"timeout = {seconds:.1f}", *_min_reward_lines(step)]
    env = {**(own.env if separate and own is not None else {}), **task.verifier_env(step)}
    given = ", ".join(f"{toml(key)} = {toml(with_defaults(value))}" for key, value in env.items())
    return [*lines, *([f"env = {{ {given} }}"] if env else []), ""]


def looks_at_services(tests: Path) -> bool:
    """Return whether a text among the tests names this machine's loopback, so that the tests may connect to what the
    agent left running.
    """
    for path in sorted(tests.rglob("*")):
        small = path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST_TEST
        if small and _LOOPBACK.search(path.read_bytes()):
            return True
    return False


def _min_reward_lines(step: HarborStep) -> list[str]:
    if step.min_reward is None:
        return []
    if isinstance(step.min_reward, dict):
        least = ", ".join(f"{toml(name)} = {value}" for name, value in step.min_reward.items())
        return [f"min_reward = {{ {least} }}"]
    return [f"min_reward = {step.min_reward}"]
