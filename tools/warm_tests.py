"""Tests run again and again while one package changes: forked from a process that has imported all the rest.

One run of all of them notes which functions of the package each goes through, and what it costs. Afterwards a change is
put to those tests only that go through the changed function, the cheapest first. All by processor time, so that a busy
machine is taken for no fault.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

BELOW = (
    "errors", "records", "files", "kit", "box", "tasks", "results", "models",
    "sandboxes", "agents", "workplace", "runs", "grading",
)  # fmt: skip
"""From the bottom up; what stands above the package that changes is imported by each run of tests for itself."""
LATE = (
    "hypothesis", "inspect_ai.model", "inspect_ai.log", "inspect_ai.agent._acp.server", "inspect_ai.scorer",
    "sqlalchemy.dialects.sqlite", "xdist", "pytest_asyncio", "pytest_timeout",
)  # fmt: skip


@dataclass(frozen=True)
class Passed:
    """What a test goes through."""

    seconds: float
    """Of processor time, its programs' included."""
    clock: float
    functions: frozenset[tuple[str, int]]
    """File, and the line where the function begins."""


def warm_up(folder: Path, package: str) -> None:
    """Import all that the tests of a checkout need and that does not depend on `package`, before anything is forked."""
    sys.path[:0] = [str(folder / "src"), str(folder / "tests")]
    os.environ |= {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    sys.dont_write_bytecode = True
    os.chdir(folder)
    for name in LATE:
        importlib.import_module(name)
    for name in BELOW[: BELOW.index(package)] if package in BELOW else ():
        found = importlib.import_module(f"worksample.{name}")
        for module in pkgutil.walk_packages(getattr(found, "__path__", ()), f"{found.__name__}."):
            if ".in_box" not in module.name:  # code for another interpreter
                importlib.import_module(module.name)
    assert threading.active_count() == 1, "a process with threads cannot be forked safely"
    early = [name for name in sys.modules if name.startswith(f"worksample.{package}")]
    assert not early, f"imported before it changes: {early}"


class _Tracing:
    """Which functions of a package each test calls, in whatever thread."""

    def __init__(self, package: Path, kept: Path) -> None:
        self._package, self._kept = f"{package}{os.sep}", kept
        self._ours: dict[CodeType, tuple[str, int] | None] = {}
        self._seen: set[tuple[str, int]] = set()
        self._passed: dict[str, tuple[float, float, list[tuple[str, int]]]] = {}

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if code not in self._ours:
            here = code.co_filename.startswith(self._package)
            self._ours[code] = (code.co_filename, code.co_firstlineno) if here else None
        if (place := self._ours[code]) is not None:
            self._seen.add(place)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._seen = set()
        spent, began = _processor_time(), time.monotonic()
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            took = _processor_time() - spent, time.monotonic() - began
            self._passed[item.nodeid] = *took, sorted(self._seen)

    def pytest_sessionfinish(self) -> None:
        self._kept.write_text(json.dumps(self._passed), encoding="utf-8")


def _processor_time() -> float:
    mine, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime


class _Chosen:
    """These tests only, in this order; the one that was begun last is written to a file."""

    def __init__(self, names: Sequence[str], begun: Path) -> None:
        self._order, self._begun = {name: number for number, name in enumerate(names)}, begun

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self._order), key=lambda i: self._order[i.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begun.write_text(nodeid, encoding="utf-8")


def record(tests: Sequence[str], package: Path, scratch: Path) -> dict[str, Passed]:
    """All tests once; what each goes through. SystemExit where one fails."""
    kept = scratch / "passed.json"
    if _forked(tests, _Tracing(package, kept), None, scratch) != 0:
        sys.exit(
            f"the tests fail as it is: {' '.join(tests)}\n{(scratch / 'output').read_text(encoding='utf-8')[-4000:]}"
        )
    read: Mapping[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return {name: Passed(s, c, frozenset((file, line) for file, line in at)) for name, (s, c, at) in read.items()}


def failing(tests: Mapping[str, Passed], patience: float, scratch: Path) -> str | None:
    """The first of these tests that fails or takes so many times what it took; "" where they cannot even begin."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
    begun = scratch / "begun"
    begun.write_text("", encoding="utf-8")
    seconds, clock = sum(t.seconds for t in tests.values()), sum(t.clock for t in tests.values())
    # By the clock only what stands still is ended: a busy machine makes everything slower by it.
    limits = 30 + patience * seconds, 60 + 2 * patience * clock
    code = _forked(files, _Chosen(list(tests), begun), limits, scratch)
    assert code != 5, f"none of these tests is there: {list(tests)}"
    return None if code == 0 else begun.read_text(encoding="utf-8")


def _forked(tests: Sequence[str], plugin: object, limits: tuple[float, float] | None, scratch: Path) -> int | None:
    """The exit code of pytest; None where it took too long. `limits`: of processor time, and by the clock."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        with (scratch / "output").open("wb") as output:
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
        words = [
            "-x",
            "-q",
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
            "--profile",
            "quick",
            "-p",
            "no:cacheprovider",
            "--basetemp",
            str(scratch / "tests"),
        ]
        code = 1
        try:
            code = pytest.main([*words, *tests], plugins=[plugin])
        finally:
            sys.stdout.flush()
            os._exit(int(code))
    handle = os.pidfd_open(pid)
    began, ended = time.monotonic(), False
    try:
        while not (ended := bool(select.select([handle], [], [], 0.5)[0])):
            if limits is not None and (_taken(pid) > limits[0] or time.monotonic() - began > limits[1]):
                break
    finally:
        os.killpg(pid, signal.SIGKILL)  # what a test left behind, too
        status = os.waitpid(pid, 0)[1]
        os.close(handle)
    return os.waitstatus_to_exitcode(status) if ended else None


def _taken(pid: int) -> float:
    """Processor time of a process and of the children that it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
