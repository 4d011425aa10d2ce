"""The broker's end on the host: takes a grader's requests to run a program, runs each in a box without the reference.

The grading box has no way out but files in a folder of its own; whatever lies there is treated as hostile. Every
request is run in a fresh box and recorded: its arguments, its exit code, the digests of all that went in and out.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import Cause, SandboxError
from worksample.files import Sink
from worksample.kit.broker import REQUEST_LIMIT, pack, unpack
from worksample.records import path_fault, quote_path
from worksample.sandboxes import Box, BoxConfig, Completed, open_box

from .place import RESULT, SCRATCH

FOLDER = f"{RESULT}/broker"
RUNS = 500
"""Programs that one grading may have run."""
PROGRAM_SECONDS = 1_200.0
"""Seconds that all programs of one grading may take; those beyond it count as timed out."""
FILE_LIMIT = 16 << 20
"""Bytes of one file that is brought back."""
ANSWER_FILES = 64
PERIOD = 0.03
"""Seconds between two looks for a request."""


class Junk(Exception):
    """A request that is none; the text says why."""


@dataclass(frozen=True, slots=True)
class Request:
    argv: list[str]
    stdin: bytes
    files: Mapping[str, bytes]
    collect: list[str]
    timeout: float


def parse(data: bytes, most: float) -> Request:
    """A request within limits: `most` is the longest time, in seconds, that one program may take. Raises Junk."""
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raise Junk("the request is no JSON") from None
    if not isinstance(raw, dict):
        raise Junk("the request is no object")
    argv, stdin, timeout = raw.get("argv"), raw.get("stdin", ""), raw.get("timeout", 30.0)
    if not isinstance(argv, list) or not argv or not all(_text(a) for a in argv) or len(argv) > 1_000:
        raise Junk("argv is no list of texts")
    if not isinstance(stdin, str):
        raise Junk("stdin is no text")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < float("inf"):
        raise Junk("timeout is no number of seconds")
    files, collect = raw.get("files", {}), raw.get("collect", [])
    if not isinstance(files, dict) or not isinstance(collect, list) or len(collect) > ANSWER_FILES:
        raise Junk("files is no table, or collect no short list")
    for name in (*files, *collect):
        fault = path_fault(quote_path(name.encode("utf-8", "surrogateescape"))) if _text(name) else "no text"
        if fault:
            raise Junk(f"a file's name is unsound: {fault}")
    try:
        given = {name: unpack(content) for name, content in files.items()}
        return Request(argv, stdin.encode(), given, collect, min(float(timeout), most))
    except ValueError as error:
        raise Junk(f"the request's content is unsound: {error}") from None


def _text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


@dataclass
class Broker:
    """Serves one grading. `records` grows by an entry per request, junk included."""

    config: BoxConfig
    sandbox: str
    sink: Sink
    most: float
    """Seconds that one program may take."""
    left: float = PROGRAM_SECONDS
    """Seconds that programs may still take, all together."""
    waited: float = 0.0
    """Seconds in which the grader waited for answers: they are not the grader's own."""
    _began: float | None = field(default=None, repr=False)
    records: list[dict[str, Any]] = field(default_factory=list)

    @property
    def paused(self) -> float:
        """Seconds so far that are not the grader's own."""
        return self.waited + (time.monotonic() - self._began if self._began is not None else 0.0)

    async def serve(self, box: Box) -> None:
        """Answers requests until cancelled, or until the box is gone."""
        for number in range(1, RUNS + 2):
            try:
                data = await self._next(box, f"{FOLDER}/{number:04}.request.json")
                self._began = time.monotonic()
                answer = await self._answer(data, number)
                await box.write(f"{FOLDER}/{number:04}.answer.json", json.dumps(answer).encode() + b"\n")
            except (SandboxError, OSError):
                # The grading box is closed or full: its own end is reported by whoever runs the grader.
                return
            finally:
                self.waited, self._began = self.paused, None

    async def _next(self, box: Box, path: str) -> bytes | None:
        """The request's bytes; None for what is there but cannot be a request."""
        while True:
            try:
                return await box.read(path, 2 * REQUEST_LIMIT)
            except FileNotFoundError:
                await asyncio.sleep(PERIOD)
            except OSError:
                return None

    async def _answer(self, data: bytes | None, number: int) -> dict[str, Any]:
        try:
            if number > RUNS:
                raise Junk(f"more than {RUNS} programs in one grading")
            if data is None:
                raise Junk("the request is no file, or too large")
            request = parse(data, self.most)
        except Junk as junk:
            self.records.append({"junk": str(junk)})
            return {"failed": str(junk), "cause": Cause.GRADER_CRASH.value}
        try:
            return await self._run(request)
        except SandboxError as error:
            self.records.append({"argv": _short(request.argv), "failed": error.what})
            return {"failed": f"the program could not be run: {error.what}", "cause": Cause.GRADER_SANDBOX.value}

    async def _run(self, request: Request) -> dict[str, Any]:
        if self.left <= 0:
            # Programs that hang are the agent's affair: they must not take the grader's time, nor the round's.
            return await asyncio.to_thread(self._told, request, Completed(-9, b"", b"", timed_out=True), {})
        async with open_box(self.config, kind=self.sandbox) as box:
            for name, content in request.files.items():
                await _write(box, f"{SCRATCH}/{name}", content)
            done = await box.run(request.argv, input=request.stdin, timeout=min(request.timeout, self.left))
            self.left -= done.seconds
            found = {name: await _collect(box, name) for name in request.collect}
        files = {name: content for name, content in found.items() if content is not None}
        return await asyncio.to_thread(self._told, request, done, files)

    def _told(self, request: Request, done: Completed, files: Mapping[str, bytes]) -> dict[str, Any]:
        self.records.append(self._record(request, done, files))
        return {
            "exit": None if done.timed_out else done.returncode,
            "stdout": pack(done.stdout),
            "stderr": pack(done.stderr),
            "files": {name: pack(content) for name, content in files.items()},
        }

    def _record(self, request: Request, done: Completed, files: Mapping[str, bytes]) -> dict[str, Any]:
        return {
            "argv": _short(request.argv),
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
        raise SandboxError(f"{path} cannot be written: {error.strerror}", where="broker") from error


async def _collect(box: Box, name: str) -> bytes | None:
    """A file that the program left, or None where there is none that can be read."""
    try:
        return await box.read(f"{SCRATCH}/{name}", FILE_LIMIT)
    except OSError:
        return None


def _short(argv: list[str]) -> list[str]:
    return [word[:500] for word in argv[:50]]
