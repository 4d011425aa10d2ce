"""`--costs`: how much processor time each file of tests takes, whatever else the machine does meanwhile."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from forking import child

_PROPERTY = "processor seconds"
_TICKS = os.sysconf("SC_CLK_TCK")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("worksample").addoption(
        "--costs", action="store_true", help="say for each file how much processor time it took"
    )


def pytest_configure(config: pytest.Config) -> None:
    """What programs cost is their own test's only where each process of the run forks its own."""
    if config.getoption("--costs"):
        child.SHARED = False


def spent(root: int) -> float:
    """Processor seconds of a process, of all below it that run, and of all of those that were waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                words = (place / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue  # ended meanwhile
            parents[int(place.name)] = int(words[1])
            ticks[int(place.name)] = sum(map(int, words[11:15]))
    return sum(ticks[pid] for pid in ticks if _is_below(pid, root, parents)) / _TICKS


def _is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid and pid != root:
        pid = parents.get(pid, 0)
    return pid == root


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """With what its fixtures cost: who comes first pays for those of a module."""
    if not item.config.getoption("--costs"):
        return (yield)
    item.stash[BEGAN] = spent(os.getpid())
    return (yield)


BEGAN = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report: pytest.TestReport = yield
    if call.when == "teardown" and BEGAN in item.stash:
        report.user_properties.append((_PROPERTY, max(0.0, spent(os.getpid()) - item.stash[BEGAN])))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--costs"):
        return
    clock: dict[str, float] = defaultdict(float)
    processor: dict[str, float] = defaultdict(float)
    tests: list[tuple[float, str]] = []
    for reports in terminalreporter.stats.values():
        for report in (one for one in reports if isinstance(one, pytest.TestReport)):
            file = report.nodeid.partition("::")[0]
            clock[file] += report.duration
            for name, value in report.user_properties if report.when == "teardown" else ():
                if name == _PROPERTY:
                    processor[file] += float(str(value))
                    tests.append((float(str(value)), report.nodeid))
    terminalreporter.section(f"processor seconds: {sum(processor.values()):.0f}")
    for file in sorted(processor, key=lambda file: -processor[file]):
        terminalreporter.line(f"{processor[file]:8.1f} s  {clock[file]:8.1f} s by the clock  {file}")
    terminalreporter.section("tests that took most")
    for seconds, name in sorted(tests, reverse=True)[:100]:
        terminalreporter.line(f"{seconds:8.1f} s  {name}")
