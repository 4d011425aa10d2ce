"""What a converter is given, and what it gives back."""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOUNDFONT = "/usr/share/sounds/sf2/TimGM6mb.sf2"
DAMAGE = (
    ValueError, KeyError, IndexError, OSError, EOFError, ArithmeticError, SyntaxError, struct.error, zlib.error,
    zipfile.BadZipFile, tarfile.TarError, sqlite3.Error, RecursionError,
)  # fmt: skip
"""Exceptions that readers raise for a damaged file."""
CONFUSION = (TypeError, AttributeError, AssertionError, NotImplementedError, RuntimeError)
"""Exceptions that point to a bug in a reader or in this code; they say nothing about the file."""
READERS_FAULTS = (*DAMAGE, *CONFUSION)


class MissingConverter(Exception):
    """Error: this machine lacks a converter; the argument is its name in `converter_requirements.NEEDS`."""


class Unreadable(Exception):
    """Error: the file cannot be shown, since it is damaged, protected, or beyond a limit. The argument says which, in a
    sentence.
    """


class TooHeavy(Unreadable):
    """Error: showing the file needs more processor time than allowed, on any machine."""


class ConverterFault(Exception):
    """Error: a converter failed for a reason that says nothing about the file, so it is our fault."""


def fault(error: Exception, what: str) -> Unreadable | ConverterFault:
    """Assign the blame for a reader's exception: to the file if the exception means damage, else to us."""
    said = str(error)[:200] or type(error).__name__
    # RecursionError is a RuntimeError, but it means a file that is nested too deeply.
    if isinstance(error, CONFUSION) and not isinstance(error, RecursionError):
        return ConverterFault(f"the converter failed: {type(error).__name__} {said}")
    return Unreadable(f"{what} is damaged: {said}")


@dataclass(slots=True)
class ConversionJob:
    """Job to convert one file. `out`: folder for its artefacts; `work`: folder for temporary files."""

    file: Path
    name: str
    """The file's name as text."""
    path: str
    """Quoted path below `folder`."""
    folder: Path
    """The whole deliverable, read-only."""
    out: Path
    work: Path
    size: int = 0
    family: str = ""
    plain: bool = False
    """Whether to leave out syntax colours, which may crash a converter."""

    @property
    def extension(self) -> str:
        """The extension in lower case, without the dot."""
        return os.path.splitext(self.name)[1][1:].lower()  # noqa: PTH122 - a hostile name is text and not a path

    def head(self, size: int = 8192) -> bytes:
        with self.file.open("rb") as f:
            return f.read(size)

    def write_artefact(self, name: str, data: bytes | str) -> str:
        """Write an artefact and return its entry for `ViewDraft.files`."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        return self.output_path(path)

    def keep_json(self, name: str, value: Any) -> str:
        return self.write_artefact(name, json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))

    def output_path(self, path: Path) -> str:
        """Return the entry for an artefact that a program wrote below `out`."""
        return f"{self.out.name}/{path.relative_to(self.out).as_posix()}"

    def copy_as(self, extension: str) -> Path:
        """Copy the file under a plain name, for programs that rely on names and write beside their source."""
        copy = self.work / f"source.{extension}"
        if not copy.exists():
            shutil.copyfile(self.file, copy)
        return copy


@dataclass(slots=True)
class ViewDraft:
    """Draft of a view. `files`: artefact name -> path below the output folder; `by`: the requirement that converted it;
    `beside`: names of other files that it refers to, as written in it.
    """

    kind: str
    files: dict[str, str] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    by: str = ""
    badge: str = ""
    problem: str = ""
    inspectable: bool = True
    beside: list[str] = field(default_factory=list)
    lacks: str = ""
    """Our reason for not showing a part of the file: "crashed" or "missing"."""


def program(name: str, need: str) -> str:
    """Return a program's path. Raises MissingConverter."""
    found = shutil.which(name)
    if found is None:
        raise MissingConverter(need)
    return found


def module(name: str, need: str) -> None:
    """Input and output of a converter: the job, the draft of a view, and the errors."""
    if importlib.util.find_spec(name) is None:
        raise MissingConverter(need)


@dataclass(frozen=True, slots=True)
class ConverterRun:
    ok: bool
    out: bytes
    err: str


def cpu_limit(seconds: int) -> Callable[[], None]:
    """Build a `preexec_fn` that limits the processor seconds of a program and of each program that it starts."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def run(
    words: Sequence[str], *, seconds: int = 60, input: bytes | None = None, cwd: Path | None = None
) -> ConverterRun:
    """Run a program with a limit of `seconds` processor time. Raises TooHeavy, ConverterFault if it cannot run.

    There is no limit on wall time: on a busy machine it would blame the file. A hanging program ends with the job.
    """
    name = os.path.basename(words[0])  # noqa: PTH119
    before = _child_processor_seconds()
    try:
        given: dict[str, Any] = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run(words, capture_output=True, cwd=cwd, check=False, preexec_fn=cpu_limit(seconds), **given)
    except (OSError, subprocess.SubprocessError) as e:
        raise ConverterFault(f"{name} cannot be started: {e}") from e
    lines = done.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    # The kernel counts in ticks, and may have ended it a little early.
    ended = done.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU)
    if ended or (done.returncode and _child_processor_seconds() - before >= 0.9 * seconds):
        raise TooHeavy(f"{name} needs more than {seconds} seconds of processor time")
    if done.returncode < 0 or done.returncode in (126, 127):
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise ConverterFault(f"{name} crashed ({how}): {lines[-1] if lines else 'it said nothing'}"[:300])
    return ConverterRun(done.returncode == 0, done.stdout, lines[-1] if lines else f"exit code {done.returncode}")


def _child_processor_seconds() -> float:
    """Return the processor seconds used by finished child processes."""
    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.ru_utime + done.ru_stime
