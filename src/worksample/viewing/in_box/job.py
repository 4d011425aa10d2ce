"""What a converter is given, and what it gives back."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOUNDFONT = "/usr/share/sounds/sf2/TimGM6mb.sf2"
READERS_FAULTS = (
    ValueError, KeyError, TypeError, IndexError, AttributeError, OSError, EOFError, ArithmeticError, RuntimeError,
)  # fmt: skip
"""What libraries that read closed formats raise over a damaged file."""


class Missing(Exception):
    """This machine lacks a converter; the argument is its name in `needs.NEEDS`."""


class Unreadable(Exception):
    """The file cannot be shown: damaged, protected, or beyond a limit. The argument says which, in a sentence."""


class Slow(Unreadable):
    """A program did not end in its time: another day it may."""


@dataclass(slots=True)
class Job:
    """One file. `out` is its own folder for artefacts, `work` one for temporary files."""

    file: Path
    name: str
    """The file's own name, as text."""
    path: str
    """Quoted path below `folder`."""
    folder: Path
    """The whole deliverable, read-only."""
    out: Path
    work: Path
    size: int = 0
    family: str = ""
    plain: bool = False
    """Without what may bring a converter down: colours."""

    @property
    def extension(self) -> str:
        """Lower case, without the dot."""
        return os.path.splitext(self.name)[1][1:].lower()  # noqa: PTH122 - a hostile name is text and not a path

    def head(self, size: int = 8192) -> bytes:
        with self.file.open("rb") as f:
            return f.read(size)

    def keep(self, name: str, data: bytes | str) -> str:
        """Write an artefact; returns what `Made.files` has for it."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        return self.made(path)

    def keep_json(self, name: str, value: Any) -> str:
        return self.keep(name, json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))

    def made(self, path: Path) -> str:
        """For an artefact that a program wrote below `out`."""
        return f"{self.out.name}/{path.relative_to(self.out).as_posix()}"

    def named(self, extension: str) -> Path:
        """A copy under a plain name, for programs that go by names and write beside their source."""
        copy = self.work / f"source.{extension}"
        if not copy.exists():
            shutil.copyfile(self.file, copy)
        return copy


@dataclass(slots=True)
class Made:
    """A view in the making. `files`: artefact name -> path below the output folder; `by`: the need that converted it;
    `beside`: names of other files that it refers to, as written in it."""

    kind: str
    files: dict[str, str] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    by: str = ""
    badge: str = ""
    problem: str = ""
    inspectable: bool = True
    beside: list[str] = field(default_factory=list)


def program(name: str, need: str) -> str:
    """A program's path. Raises Missing."""
    found = shutil.which(name)
    if found is None:
        raise Missing(need)
    return found


def module(name: str, need: str) -> None:
    """Raises Missing where a library is not here."""
    if importlib.util.find_spec(name) is None:
        raise Missing(need)


@dataclass(frozen=True, slots=True)
class Ran:
    ok: bool
    out: bytes
    err: str


def run(words: Sequence[str], *, timeout: float = 60, input: bytes | None = None, cwd: Path | None = None) -> Ran:
    """A program to its end. Raises Slow."""
    try:
        given: dict[str, Any] = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run(words, capture_output=True, timeout=timeout, cwd=cwd, check=False, **given)
    except subprocess.TimeoutExpired as e:
        raise Slow(f"{os.path.basename(words[0])} did not end within {timeout:g} seconds") from e  # noqa: PTH119
    lines = done.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    return Ran(done.returncode == 0, done.stdout, lines[-1] if lines else f"exit code {done.returncode}")
