"""The broker's verb `run`: it runs a program of the agent in a fresh box without the reference.

Every run is recorded, with the arguments, the exit code, and the digests of all inputs and outputs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.box import Box, BoxConfig, Completed, FairTimeout
from worksample.errors import SandboxError
from worksample.files import Sink
from worksample.kit.broker_client import pack, unpack
from worksample.records import path_fault, quote_path
from worksample.sandboxes import open_box
from worksample.sandboxes.request_broker import MalformedRequest
from worksample.sandboxes.starved_programs import require_time

from .grading_boxes import SCRATCH

PROGRAM_SECONDS = 1_200.0
"""Maximum time in seconds for all programs of one grading together. After that, further programs count as timed out."""
FILE_LIMIT = 16 << 20
"""Maximum size in bytes of one file that is read after a program's run."""
FILES_LIMIT = 64 << 20
"""Maximum size in bytes of all files together that are read after one program's run."""
ANSWER_FILES = 64


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    argv: list[str]
    stdin: bytes
    files: Mapping[str, bytes]
    collect: list[str]
    timeout: float


def parse(raw: Mapping[str, Any], most: float) -> ProgramRequest:
    """Check and convert a request. most: maximum time of one program in seconds. Raises MalformedRequest if a field is
    missing or invalid.
    """
    argv, stdin, timeout = raw.get("argv"), raw.get("stdin", ""), raw.get("timeout", 30.0)
    if not isinstance(argv, list) or not argv or not all(_text(a) for a in argv) or len(argv) > 1_000:
        raise MalformedRequest("argv is not a list of texts")
    if not isinstance(stdin, str):
        raise MalformedRequest("stdin is not text")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < float("inf"):
        raise MalformedRequest("timeout is not a number of seconds")
    files, collect = raw.get("files", {}), raw.get("collect", [])
    if not isinstance(files, dict) or not isinstance(collect, list) or len(collect) > ANSWER_FILES:
        raise MalformedRequest(f"files is not a mapping, or collect is not a list of at most {ANSWER_FILES} names")
    for name in (*files, *collect):
        fault = (
            path_fault(quote_path(name.encode("utf-8", "surrogateescape"))) if _text(name) else "a name must be text"
        )
        if fault:
            raise MalformedRequest(f"invalid file name: {fault}")
    try:
        given = {name: unpack(content) for name, content in files.items()}
        return ProgramRequest(argv, stdin.encode(), given, collect, min(float(timeout), most))
    except ValueError as error:
        raise MalformedRequest(f"the request's content is invalid: {error}") from None


def _text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


@dataclass
class ProgramRequests:
    """The programs of one grading, which run one after another. Each run adds an entry to `records`."""

    config: BoxConfig
    sandbox: str
    sink: Sink
    most: float
    """Maximum time of one program, in seconds."""
    records: list[dict[str, Any]]
    left: float = PROGRAM_SECONDS
    """Remaining time for all further programs together, in seconds."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def run(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request. Raises MalformedRequest if the request is malformed; SandboxError if the program cannot
        be run.
        """
        request = parse(body, self.most)
        async with self._turn:
            try:
                return await self._run(request)
            except SandboxError as error:
                self.records.append({"argv": _shorten_arguments(request.argv), "failed": error.what})
                raise SandboxError(
                    f"the program could not be run: {error.what}",
                    where=error.where,
                    next=error.next or "worksample doctor",
                ) from error

    async def _run(self, request: ProgramRequest) -> dict[str, Any]:
        if self.left <= 0:
            # The agent is to blame for programs that hang: they must not use up the time of the grader or the round.
            return await asyncio.to_thread(self._reply, request, Completed(-9, b"", b"", timed_out=True), {})
        async with open_box(self.config, kind=self.sandbox) as box:
            for name, content in request.files.items():
                await _write(box, f"{SCRATCH}/{name}", content)
            done = await box.run(
                request.argv, input=request.stdin, timeout=FairTimeout(min(request.timeout, self.left))
            )
            require_time(done, "run")
            self.left -= done.counted
            files = await _collect_files(box, request.collect)
        return await asyncio.to_thread(self._reply, request, done, files)

    def _reply(self, request: ProgramRequest, done: Completed, files: Mapping[str, bytes]) -> dict[str, Any]:
        self.records.append(self._record(request, done, files))
        return {
            "exit": None if done.timed_out else done.returncode,
            "stdout": pack(done.stdout),
            "stderr": pack(done.stderr),
            "files": {name: pack(content) for name, content in files.items()},
        }

    def _record(self, request: ProgramRequest, done: Completed, files: Mapping[str, bytes]) -> dict[str, Any]:
        return {
            "argv": _shorten_arguments(request.argv),
            "given": {name: self.sink.put(content) for name, content in request.files.items()},
            "stdin": self.sink.put(request.stdin) if request.stdin else None,
            "exit": None if done.timed_out else done.returncode,
            "seconds": round(done.seconds, 3),
            "out_of_memory": done.oom,
            "cut": done.truncated,
            "stdout": self.sink.put(done.stdout),
            "stderr": self.sink.put(done.stderr),
            "files": {name: self.sink.put(content) for name, content in files.items()},
        }


async def _write(box: Box, path: str, content: bytes) -> None:
    try:
        await box.write(path, content)
    except OSError as error:
        raise SandboxError(
            f"{path} cannot be written: {error.strerror}",
            where="broker",
            next="free disk space on this machine, then grade again",
        ) from error


async def _collect_files(box: Box, names: list[str]) -> dict[str, bytes]:
    """Return the contents of the named files after a program's run. Files that cannot be read or are too large are left
    out.
    """
    found: dict[str, bytes] = {}
    left = FILES_LIMIT
    for name in names:
        try:
            found[name] = await box.read(f"{SCRATCH}/{name}", min(FILE_LIMIT, left))
        except OSError:
            continue
        left -= len(found[name])
    return found


def _shorten_arguments(argv: list[str]) -> list[str]:
    return [word[:500] for word in argv[:50]]
