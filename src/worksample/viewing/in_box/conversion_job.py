"""Input and result of a converter."""

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
"""Exceptions that point to a bug in a reader or in this code. They prove nothing about the file."""
READERS_FAULTS = (*DAMAGE, *CONFUSION)


class MissingConverter(Exception):
    """Error: this machine lacks a converter. The argument is the converter's name in `converter_requirements.NEEDS`."""


class Unreadable(Exception):
    """Error: the file cannot be shown because it is damaged, protected, or exceeds a limit. The argument is a sentence
    with the reason.
    """


class TooHeavy(Unreadable):
    """Error: showing the file needs more processor time than any file is allowed, on any machine."""


class ConverterFault(Exception):
    """Error: a converter failed for a reason that proves nothing about the file, so the platform is to blame."""


def fault(error: Exception, what: str) -> Unreadable | ConverterFault:
    """Return the error that blames the right party for a reader's exception: the file if the exception means damage,
    otherwise the platform.
    """
    said = str(error)[:200] or type(error).__name__
    # RecursionError is a RuntimeError, but it means a file that is nested too deeply.
    if isinstance(error, CONFUSION) and not isinstance(error, RecursionError):
        return ConverterFault(f"the converter failed: {type(error).__name__} {said}")
    return Unreadable(f"{what} is damaged: {said}")


@dataclass(slots=True)
class ConversionJob:
    """Job to convert one file. `out` is the folder for the file's artefacts; `work` is the folder for temporary
    files.
    """

    file: Path
    name: str
    """The file's name as text."""
    path: str
    """Quoted path of the file below `folder`."""
    folder: Path
    """Folder with all delivered files, which can only be read."""
    out: Path
    work: Path
    size: int = 0
    family: str = ""
    plain: bool = False
    """Whether to leave out syntax colours, which may crash a converter."""

    @property
    def extension(self) -> str:
        """The extension of the file's name in lower case, without the dot."""
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
        """Return the entry for `ViewDraft.files` of an artefact that a program wrote below `out`."""
        return f"{self.out.name}/{path.relative_to(self.out).as_posix()}"

    def copy_as(self, extension: str) -> Path:
        """Copy the file to the work folder under a simple name and return the copy, for programs that depend on names
        or write beside their source.
        """
        copy = self.work / f"source.{extension}"
        if not copy.exists():
            shutil.copyfile(self.file, copy)
        return copy


@dataclass(slots=True)
class ViewDraft:
    """Draft of a view. `files` maps names of artefacts to paths below the output folder. `by` is the requirement that
    converted the file. `beside` contains names of other files to which the file refers, as written in the file.
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
    """The platform's own reason why a part of the file is not shown: "crashed" or "missing"."""


def program(name: str, need: str) -> str:
    """Return the path of a program. Raises MissingConverter if the program is not installed."""
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
    """Return a `preexec_fn` that limits the processor seconds of a program and of each program that it starts."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def run(
    words: Sequence[str], *, seconds: int = 60, input: bytes | None = None, cwd: Path | None = None
) -> ConverterRun:
    """Run a program with a limit of `seconds` processor time. Raises TooHeavy if the program exceeds the limit;
    ConverterFault if it cannot be run.

    Wall-clock time has no limit, because on a busy machine such a limit would blame the file. A program that hangs is
    killed with the job.
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
    """Return the processor seconds that exited child processes have used."""
    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.ru_utime + done.ru_stime
