"""Climbs of a real run: calls of a function by a function of a lower layer, such as callbacks.

Layers are those of import-linter in `pyproject.toml`. Libraries and the modules beside the layers (`supervision`,
`steady_loop`) are transparent: the caller is the nearest function of ours that waits on the stack. A function that is
handed to another task or thread counts as called where it is handed over. Not counted: imports, validators of
configuration, which pydantic calls while `config_files.validation` waits, and what runs in other processes.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import worksample

SOURCES = Path(worksample.__file__).parent
CONTRACT = "the tree: imports point one way"
HANDED_OVER = {"to_thread": "func", "run_sync": "func", "create_task": "coro", "ensure_future": "coro_or_future"}
"""Functions of asyncio and anyio that start something elsewhere, and the argument that says what."""
DISPATCHER = "files.config_files.validation.validate"
"""Function that lets pydantic validate a configuration: the validators of its classes are declarations."""
LOOP = "asyncio/events.py"
"""Where a stack of the event loop begins: what stands below it has not called."""


def layers() -> dict[str, int]:
    """Return the height of each package; the lowest is 0."""
    project = tomllib.loads((SOURCES.parents[1] / "pyproject.toml").read_text())
    contract = next(one for one in project["tool"]["importlinter"]["contracts"] if one["name"] == CONTRACT)
    return {
        name.strip().removeprefix("worksample."): height
        for height, names in enumerate(reversed(contract["layers"]))
        for name in names.split("|")
    }


@dataclass
class Climbs:
    """Recorder of the climbs of everything that runs while it is active."""

    begin: str | None = None
    """Function (`runs.trial_close.close`) with whose first call counting begins; None: at once."""
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Caller and callee -> number of calls."""
    packages: set[str] = field(default_factory=set)
    """Packages of which a function ran."""

    def __post_init__(self) -> None:
        self._layers = layers()
        self._names: dict[CodeType, tuple[str, str] | None] = {}
        self._begun = self.begin is None

    @property
    def modules(self) -> set[tuple[str, str]]:
        """Pairs of a module and a module above it that it calls."""
        return {(_module(caller), _module(callee)) for caller, callee in self.pairs}

    @contextmanager
    def record(self) -> Iterator[Climbs]:
        """Record until the block ends, in all threads that begin meanwhile."""
        before = sys.getprofile(), threading.getprofile()
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        try:
            yield self
        finally:
            sys.setprofile(before[0])
            threading.setprofile(before[1])

    def _on_event(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call":
            return
        if (argument := HANDED_OVER.get(frame.f_code.co_name)) is not None and argument in frame.f_locals:
            code = code_of(frame.f_locals[argument])
        else:
            code = frame.f_code
        callee = None if code is None else self._name(code)
        if callee is None:
            return
        package, function = callee
        if not self._begun and function != self.begin:
            return
        self._begun = True
        self.packages.add(package)
        caller = self._caller(frame)
        if caller is None or caller[1] == DISPATCHER:
            return
        if self._layers[caller[0]] < self._layers[package]:
            self.pairs[caller[1], function] += 1

    def _caller(self, frame: FrameType) -> tuple[str, str] | None:
        back = frame.f_back
        while back is not None and not back.f_code.co_filename.endswith(LOOP):
            if (found := self._name(back.f_code)) is not None:
                return found
            back = back.f_back
        return None

    def _name(self, code: CodeType) -> tuple[str, str] | None:
        """Return package and dotted name of a function of ours; None for others."""
        if code not in self._names:
            self._names[code] = self._read_name(code)
        return self._names[code]

    def _read_name(self, code: CodeType) -> tuple[str, str] | None:
        path = Path(code.co_filename)
        if code.co_name == "<module>" or not path.is_relative_to(SOURCES):
            return None
        parts = path.relative_to(SOURCES).with_suffix("").parts
        return (parts[0], ".".join((*parts, code.co_qualname))) if parts[0] in self._layers else None


def _module(function: str) -> str:
    parts = function.split(".")
    while not SOURCES.joinpath(*parts).with_suffix(".py").is_file():
        parts.pop()
    return ".".join(parts)


def code_of(callee: Any) -> CodeType | None:
    """Return the code of a function, method, partial or coroutine; None if it is not Python."""
    while isinstance(callee, functools.partial):
        callee = callee.func
    if inspect.iscoroutine(callee):
        return callee.cr_code
    callee = inspect.unwrap(getattr(callee, "__func__", callee))
    return getattr(callee, "__code__", None)
