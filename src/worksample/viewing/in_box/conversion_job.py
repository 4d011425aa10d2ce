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
"""What readers raise over a damaged file."""
CONFUSION = (TypeError, AttributeError, AssertionError, NotImplementedError, RuntimeError)
"""What readers raise where they, or we, did not think of something: that says nothing of the file."""
READERS_FAULTS = (*DAMAGE, *CONFUSION)


class Missing(Exception):
    """This machine lacks a converter; the argument is its name in `needs.NEEDS`."""


class Unreadable(Exception):
    """The file cannot be shown: damaged, protected, or beyond a limit. The argument says which, in a sentence."""


class Heavy(Unreadable):
    """Showing the file takes more of the processor than is given, on any machine on any day."""


class ConverterFault(Exception):
    """A converter failed in a way that says nothing of the file: that is our fault."""


def fault(error: Exception, what: str) -> Unreadable | ConverterFault:
    """The blame for what a reader raised: the file's where the error says that it is damaged, else ours."""
    said = str(error)[:200] or type(error).__name__
    # A recursion without end is a RuntimeError, but one of a file that is nested too deep.
    if isinstance(error, CONFUSION) and not isinstance(error, RecursionError):
        return ConverterFault(f"its reader failed: {type(error).__name__} {said}")
    return Unreadable(f"{what} is damaged: {said}")


@dataclass(slots=True)
class ConversionJob:
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
class ViewDraft:
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
    lacks: str = ""
    """Why a part is not shown that the file has, where that is our fault: "crashed" or "missing"."""


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
class ConverterRun:
    ok: bool
    out: bytes
    err: str


def at_most(seconds: int) -> Callable[[], None]:
    """For `preexec_fn`: the program, and each that it starts, may use so many seconds of processors."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def run(
    words: Sequence[str], *, seconds: int = 60, input: bytes | None = None, cwd: Path | None = None
) -> ConverterRun:
    """A program to its end, with `seconds` of processor time. Raises Heavy, and Broken where it cannot run.

    No clock limits it here: on a busy machine it would blame the file. What hangs ends with the job.
    """
    name = os.path.basename(words[0])  # noqa: PTH119
    before = _used()
    try:
        given: dict[str, Any] = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run(words, capture_output=True, cwd=cwd, check=False, preexec_fn=at_most(seconds), **given)
    except (OSError, subprocess.SubprocessError) as e:
        raise ConverterFault(f"{name} cannot be started: {e}") from e
    lines = done.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    # The kernel counts in ticks, and may have ended it a little early.
    ended = done.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU)
    if ended or (done.returncode and _used() - before >= 0.9 * seconds):
        raise Heavy(f"{name} needs more than {seconds} seconds of processor time")
    if done.returncode < 0 or done.returncode in (126, 127):
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise ConverterFault(f"{name} crashed ({how}): {lines[-1] if lines else 'it said nothing'}"[:300])
    return ConverterRun(done.returncode == 0, done.stdout, lines[-1] if lines else f"exit code {done.returncode}")


def _used() -> float:
    """Seconds of processors that programs of ours used which have ended."""
    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.ru_utime + done.ru_stime
