"""How many tests each folder has, written down in tests/counts.toml: a number falls only with a reason beside it.

Compared whenever everything was collected. What has grown is written down anew with `--write-counts` (`./dev test` does
it, CI does not); what has fallen is written down by hand, with a line under `[fell]` that says why.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from running.profiles import is_quick, is_whole, root_of

FILE = "counts.toml"
"""In the folder of all tests."""
PROFILES = ("quick", "all")
HEAD = """# How many tests each folder has in each profile. `./dev test` raises the numbers.
# Who lowers one says under [fell] why.
"""
Counts = dict[str, dict[str, int]]
"""Folder -> profile -> how many."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("worksample").addoption(
        "--write-counts", action="store_true", help="write the numbers of tests that have grown into tests/counts.toml"
    )


def count(items: list[pytest.Item], root: Path) -> Counts:
    """By the folder below `root`."""
    found = {name: Counter[str]() for name in PROFILES}
    for item in items:
        folder = item.path.relative_to(root).parts[0]
        found["all"][folder] += 1
        found["quick"][folder] += is_quick(item)
    return {folder: {name: found[name][folder] for name in PROFILES} for folder in sorted(found["all"])}


def read(text: str) -> tuple[Counts, dict[str, list[str]]]:
    """What is written down, and why numbers fell."""
    table: dict[str, Any] = tomllib.loads(text)
    fell = table.pop("fell", {})
    return {folder: dict(numbers) for folder, numbers in table.items()}, {k: list(v) for k, v in fell.items()}


def written(counts: Mapping[str, Mapping[str, int]], fell: Mapping[str, list[str]]) -> str:
    lines = [HEAD]
    lines += [f"{folder} = {{quick = {n['quick']}, all = {n['all']}}}" for folder, n in sorted(counts.items())]
    lines += ["", "[fell]"]
    for folder, reasons in sorted(fell.items()):
        lines += [f"{folder} = [", *(f"  {_quoted(reason)}," for reason in reasons), "]"]
    return "\n".join(lines) + "\n"


def fallen(before: Counts, now: Counts) -> list[str]:
    """What there is less of than was written down, in words."""
    return [
        f"tests/{folder}: {now.get(folder, {}).get(name, 0)} tests in profile {name}, "
        f"but tests/counts.toml says {numbers[name]}"
        for folder, numbers in sorted(before.items())
        for name in PROFILES
        if now.get(folder, {}).get(name, 0) < numbers[name]
    ]


def raised(before: Counts, now: Counts) -> Counts:
    """The higher of each."""
    return {
        folder: {name: max(before.get(folder, {}).get(name, 0), now.get(folder, {}).get(name, 0)) for name in PROFILES}
        for folder in {*before, *now}
    }


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before anything is left out, and only where everything was asked for."""
    if is_whole(config):
        config.stash[COUNTED] = count(items, root_of(config))
        if hasattr(config, "workeroutput"):
            config.workeroutput["counts"] = config.stash[COUNTED]


COUNTED = pytest.StashKey[Counts]()
FALLEN = pytest.StashKey[list[str]]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """The process that collects nothing itself hears it from one that did."""
    counts = getattr(node, "workeroutput", {}).get("counts")
    if counts:
        node.config.stash[COUNTED] = counts


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    now = config.stash.get(COUNTED, None)
    if now is None or hasattr(config, "workerinput"):
        return
    file = root_of(config) / FILE
    before, fell = read(file.read_text(encoding="utf-8"))
    config.stash[FALLEN] = fallen(before, now)
    if config.stash[FALLEN] and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if config.getoption("--write-counts") and raised(before, now) != before:
        file.write_text(written(raised(before, now), fell), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    lines = config.stash.get(FALLEN, None) or []
    if lines:
        terminalreporter.section("fewer tests than there were", red=True)
        for line in lines:
            terminalreporter.line(line)
        terminalreporter.line(
            "  next: bring them back, or lower the number in tests/counts.toml and say under [fell] why"
        )
