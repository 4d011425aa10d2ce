"""Tests run again and again while one package changes: forked from a process that has imported all the rest.

One run of all of them notes which functions of the package each goes through, and what it costs. Afterwards a change is
put to those tests only that go through the changed function, the cheapest first.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
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
    "errors", "records", "files", "manifests", "kit", "box", "tasks", "verdicts", "reattempts", "submissions", "models",
    "endpoints", "sandboxes", "images", "services", "agents", "workplace", "runs", "grading",
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
    """By the clock."""
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
        self._passed: dict[str, tuple[float, list[tuple[str, int]]]] = {}

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
        began = time.monotonic()
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self._passed[item.nodeid] = time.monotonic() - began, sorted(self._seen)

    def pytest_sessionfinish(self) -> None:
        self._kept.write_text(json.dumps(self._passed))


class _Chosen:
    """These tests only, in this order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._order = {name: number for number, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self._order), key=lambda i: self._order[i.nodeid])


def record(tests: Sequence[str], package: Path, scratch: Path) -> dict[str, Passed]:
    """All tests once; what each goes through. SystemExit where one fails."""
    kept = scratch / "passed.json"
    if _forked(tests, _Tracing(package, kept), None, scratch) != 0:
        sys.exit(f"the tests fail as it is: {' '.join(tests)}\n{(scratch / 'output').read_text()[-4000:]}")
    read: Mapping[str, Any] = json.loads(kept.read_text())
    return {name: Passed(s, frozenset((file, line) for file, line in places)) for name, (s, places) in read.items()}


def fails(names: Sequence[str], seconds: float, scratch: Path) -> bool:
    """Whether one of these tests fails, or they do not end within so many seconds."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in names))
    code = _forked(files, _Chosen(names), seconds, scratch)
    assert code != 5, f"none of these tests is there: {names}"
    return code != 0


def _forked(tests: Sequence[str], plugin: object, seconds: float | None, scratch: Path) -> int | None:
    """The exit code of pytest; None where it took too long."""
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
    ended = False
    try:
        ended = bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.killpg(pid, signal.SIGKILL)  # what a test left behind, too
        status = os.waitpid(pid, 0)[1]
        os.close(handle)
    return os.waitstatus_to_exitcode(status) if ended else None
