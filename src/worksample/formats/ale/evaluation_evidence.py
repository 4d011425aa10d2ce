"""Evidence of an evaluation by an ALE package: whether its result is a score, or shows that it could not grade.

Packages catch nearly every error and then give 0. A result counts only if no evidence blames anything but the
submission. Such evidence is a missing or unreadable reference, a missing library or program, or a judge.
"""

from __future__ import annotations

import json
import math
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from worksample.errors import Cause, GraderError, ReferenceUnreadable

from .in_box.session import SessionCall

LEAVE_OUT = "leave the task out of the suite (tasks in suite.toml)"
GIVE_REFERENCE = "import the task again with --data FOLDER that has its whole reference"
_NO_PROGRAM = re.compile(r"command not found|: not found$|No such file or directory: '[^/']+'", re.MULTILINE)
_NO_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): (?:No module named )?'?([\w.]+)")
_PROBES = ("test", "[", "[[", "command", "ls", "find", "stat", "grep", "which", "type", "mkdir", "rm")
"""Commands whose failure is an answer."""
_SIGNALS = (StopIteration, StopAsyncIteration, GeneratorExit)
_MAGIC = {
    ".xlsx": b"PK", ".docx": b"PK", ".pptx": b"PK", ".zip": b"PK", ".npz": b"PK", ".npy": b"\x93NUMPY",
    ".png": b"\x89PNG", ".jpg": b"\xff\xd8", ".jpeg": b"\xff\xd8", ".pdf": b"%PDF", ".gz": b"\x1f\x8b",
    ".h5": b"\x89HDF", ".glb": b"glTF",
}  # fmt: skip
"""Ending -> the first bytes of such a file."""
_TEXT = (".csv", ".tsv", ".txt", ".md", ".yaml", ".yml", ".svg", ".xml", ".fasta", ".vcf", ".bed", ".pdb")
LARGEST_JSON = 256 << 20


@dataclass(frozen=True, slots=True)
class RaisedException:
    """An exception that passed through the package's code, whether the package caught it or not."""

    type: str
    text: str
    place: str
    file: str = ""
    """The file that an operating system's error names."""


@dataclass
class ExceptionTrace:
    """A record of exceptions in the code below `folder`, also of those that it catches.

    Exceptions from the agent's own code, below `output`, are left out: they say nothing about the evaluator.
    """

    folder: str
    output: str
    found: list[RaisedException] = field(default_factory=list)

    def __enter__(self) -> ExceptionTrace:
        sys.settrace(self._enter_function)
        return self

    def __exit__(self, *given: object) -> None:
        sys.settrace(None)

    def _enter_function(self, frame: FrameType, event: str, given: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self.folder):
            return None
        frame.f_trace_lines = False
        return self._see

    def _see(self, frame: FrameType, event: str, given: Any) -> Any:
        if event == "exception" and len(self.found) < 10_000:
            kind, value, traceback = given
            if not issubclass(kind, _SIGNALS) and not self._is_agents(kind, value, traceback):
                file = str(getattr(value, "filename", "") or "") if isinstance(value, OSError) else ""
                place = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
                parents = [one.__name__ for one in kind.__mro__]
                name = next((n for n in ("ImportError", "SyntaxError", "OSError") if n in parents), kind.__name__)
                self.found.append(RaisedException(name, str(value)[:500], place, file))
        return self._see

    def _is_agents(self, kind: type[BaseException], value: object, traceback: TracebackType | None) -> bool:
        """Return whether an exception comes from the agent's code, or is about text that is no code of the package.

        Parsers of XML and of the agent's programs raise SyntaxError too.
        """
        if issubclass(kind, SyntaxError):
            return not str(getattr(value, "filename", "") or "").startswith(self.folder)
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename.startswith(self.output):
                return True
            traceback = traceback.tb_next
        return False


def score_of(result: Any) -> float:
    """Return the score in an evaluation's result: a list with one number from 0 to 1. Raises GraderError."""
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(found) != 1:
        what = f"evaluate() returned {len(found)} scores instead of one"
        raise GraderError(what, cause=Cause.GRADER_MALFORMED, next=LEAVE_OUT)
    try:
        score = float(found[0]) if not isinstance(found[0], (str, bytes)) else math.nan
    except (TypeError, ValueError):
        score = math.nan
    if not 0 <= score <= 1:  # also false for NaN
        what = f"evaluate() returned {str(found[0])[:100]!r}, which is not a number from 0 to 1"
        raise GraderError(what, cause=Cause.GRADER_MALFORMED, next=LEAVE_OUT)
    return score


@dataclass(frozen=True)
class EvaluationEvidence:
    """Evidence from a run of a package's `evaluate`."""

    reference: Path
    """The folder of the reference in this box."""
    calls: Sequence[SessionCall]
    exceptions: Sequence[RaisedException]
    metadata: Any
    self_grading: bool = False
    """Whether the package is known to need no reference."""

    def require_gradable(self, *, full: bool) -> None:
        """Raise GraderError if something other than the submission may explain the result.

        full: whether the result is above 0. A result of 0 is doubted more: also a reference counts that the package
        names and did not yet look for.
        """
        for fault in self.exceptions:
            self._require_library(fault)
        if not self.self_grading:
            self._require_reference(full=full)
        for call in self.calls:
            if call.name == "screenshot":
                raise GraderError("the evaluator looks at a screen", cause=Cause.GRADER_LACKS, next=LEAVE_OUT)

    def _require_library(self, fault: RaisedException) -> None:
        if fault.type == "ImportError":
            what = f"the evaluator needs a library that is not installed: {fault.text} ({fault.place})"
            raise GraderError(what, cause=Cause.GRADER_LACKS, next="install it beside worksample, then grade again")
        if fault.type == "SyntaxError":
            what = f"the evaluator needs a newer Python than {sys.version.split()[0]}: {fault.text} ({fault.place})"
            raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)

    def _require_reference(self, *, full: bool) -> None:
        if not any(self.reference.rglob("*")):
            raise _lacks_reference("the reference is empty")
        looked_for = [*self._looked_for(), *(() if full else self._named_paths())]
        for path in dict.fromkeys(looked_for):
            if not Path(path).exists():
                raise _lacks_reference(f"the evaluator looks for {path}, which the reference does not have")
        for path in dict.fromkeys(looked_for):
            if Path(path).is_file() and (fault := unreadable(Path(path))):
                raise ReferenceUnreadable(f"{path} {fault}", next=GIVE_REFERENCE)

    def _looked_for(self) -> Iterator[str]:
        """Yield the paths below the reference that the evaluator asked for."""
        for call in self.calls:
            yield from self._below(call.about)
        for fault in self.exceptions:
            yield from self._below(fault.file)

    def _named_paths(self) -> Iterator[str]:
        """Yield the paths below the reference that the task's metadata name."""
        waiting = [self.metadata]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                waiting += one.values()
            elif isinstance(one, (list, tuple)):
                waiting += one
            elif isinstance(one, (str, Path)):
                yield from self._below(str(one))

    def _below(self, text: str) -> Iterator[str]:
        pattern = re.escape(str(self.reference)) + r"(?:/[^\s'\"`;|&<>()*?$\\]+)+"
        for found in re.findall(pattern, text):
            yield found.rstrip(".,:")


def missing_program(fault: str, code: int) -> str:
    """Return what a failed command lacks, from its standard error and exit code; "" if nothing shows that."""
    if module := _NO_MODULE.search(fault):
        return f"the library {module[1]}"
    return "a program" if code in (126, 127) or _NO_PROGRAM.search(fault) else ""


def failed_commands(calls: Sequence[SessionCall]) -> list[SessionCall]:
    """Return the commands that failed and whose failure is not itself an answer."""
    return [
        call
        for call in calls
        if call.name == "run_command" and call.code and call.about.strip().split(" ", 1)[0] not in _PROBES
    ]


def unreadable(path: Path) -> str:
    """Say why a file of the reference cannot be what its ending says; "" if it can be."""
    ending = path.suffix.lower()
    try:
        if path.stat().st_size == 0:
            return "is empty"
        if ending in (".json", ".geojson", ".ipynb") and path.stat().st_size <= LARGEST_JSON:
            json.loads(path.read_bytes())
        elif ending in _MAGIC:
            with path.open("rb") as file:
                if not file.read(8).startswith(_MAGIC[ending]):
                    return f"is not a {ending} file"
            if _MAGIC[ending] == b"PK" and not zipfile.is_zipfile(path):
                return "is a damaged archive"
        elif ending in _TEXT:
            with path.open("rb") as file:
                if b"\0" in file.read(1 << 20):
                    return "is not text"
    except (OSError, ValueError, RecursionError) as fault:
        return f"cannot be read: {str(fault)[:200]}"
    return ""


def _lacks_reference(what: str) -> GraderError:
    return GraderError(what, cause=Cause.GRADER_LACKS, next=GIVE_REFERENCE)
