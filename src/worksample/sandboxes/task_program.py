"""Functions of a task's `task.py`, run in a box of their own: `load` gives the instances, `start` prepares the agent's
box through a session.

The program's box holds the task's code and no network. The agent's box never holds this code: each call of a session is
a request to the broker, which carries it out in the agent's box with the rights of its user.
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.box import Box, BoxConfig, BoxLimits, Completed, FairTimeout, Mount
from worksample.errors import Cause, ForeignInputError, ManifestError, SandboxError
from worksample.files.untrusted.json_limits import JsonLimits, read_json
from worksample.kit.broker_client import pack, unpack
from worksample.kit.session import READ_LIMIT
from worksample.records import StartSpec

from .box_registry import open_box
from .python_toolbox import platform_python
from .request_broker import SOCKET, MalformedRequest, RequestBroker, Verb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CODE, RESULT, SCRATCH = "/task/grader", "/task/result", "/task/scratch"
LOAD_SECONDS, START_SECONDS = 60.0, 600.0
LOADED = JsonLimits(size=128 << 20, values=400_000, depth=32)
"""Limits of what `load` returns."""
_SMALL = JsonLimits(size=1 << 20, values=1_000, depth=8)
_LIMITS = BoxLimits(memory=2 << 30, processes=128, disk=512 << 20, output=1 << 20)
_COMMAND_LIMIT = 3600.0
_NEXT = "correct task.py, then worksample task check FOLDER"


@dataclass(frozen=True)
class SessionRequests:
    """Answers to the calls of a session, carried out in `box`."""

    box: Box

    def verbs(self) -> dict[str, Verb]:
        """Return the broker's verb `session`."""
        return {"session": self.answer}

    async def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one call. A fault of the box's files is an answer with `errno`. Raises MalformedRequest."""
        call, path = body.get("call"), body.get("path", "")
        if not isinstance(path, str) or "\0" in path or (path and not path.startswith("/")):
            raise MalformedRequest("path is not an absolute path")
        try:
            match call:
                case "kind":
                    return {"kind": await kind_of(self.box, path)}
                case "read":
                    return {"data": pack(await self.box.read(path, READ_LIMIT))}
                case "write":
                    await self.box.write(path, _content(body), _mode(body))
                    return {}
                case "list":
                    return {"names": await self._list(path)}
                case "make":
                    return await self._change(["mkdir", "-p", path], path)
                case "delete":
                    return await self._change(["rm", "-rf", path], path)
                case "run":
                    return await self._run(body, path)
                case "application":
                    words = ["sh", "-c", 'exec setsid -- "$0" "$@" </dev/null >/dev/null 2>&1 &', *_words(body)]
                    return _require_started(await self.box.run(words, cwd=path or None, timeout=60.0))
        except OSError as fault:
            return {"errno": fault.errno or errno.EIO, "strerror": fault.strerror or str(fault)}
        raise MalformedRequest(f"{call!r:.80} is no call of a session")

    async def _list(self, path: str) -> list[str]:
        done = await self.box.run(["find", path, "-mindepth", "1", "-maxdepth", "1", "-printf", r"%f\0"], timeout=60.0)
        if done.returncode:
            raise OSError(errno.ENOENT, done.stderr.decode("utf-8", "replace").strip()[-200:])
        return sorted(name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0") if name)

    async def _change(self, argv: list[str], path: str) -> dict[str, Any]:
        if not path:
            raise MalformedRequest("the call needs a path")
        done = await self.box.run(argv, timeout=60.0)
        if done.returncode or done.timed_out:
            raise OSError(errno.EACCES, done.stderr.decode("utf-8", "replace").strip()[-200:])
        return {}

    async def _run(self, body: Mapping[str, Any], cwd: str) -> dict[str, Any]:
        stdin, timeout = body.get("stdin", ""), body.get("timeout", 60.0)
        if not isinstance(stdin, str) or isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
            raise MalformedRequest("stdin is no text, or timeout is no number")
        limit = FairTimeout(min(max(float(timeout), 0.1), _COMMAND_LIMIT))
        done = await self.box.run(_words(body), input=stdin.encode(), cwd=cwd or None, timeout=limit)
        if done.starved:
            raise SandboxError("the machine was too busy", where="task.py", next="stop other programs, then try again")
        return {
            "exit": None if done.timed_out else done.returncode, "stdout": pack(done.stdout),
            "stderr": pack(done.stderr),
        }  # fmt: skip


async def kind_of(box: Box, path: str) -> str:
    """Return what lies at a path of a box: `file`, `folder`, or "". No program of the box is run."""
    try:
        await box.read(path, 0)
    except IsADirectoryError:
        return "folder"
    except OSError as fault:
        return "file" if fault.errno == errno.EFBIG else ""
    return "file"


async def load_instances(
    folder: Path, entry: str, *, sandbox: str, seconds: float = LOAD_SECONDS
) -> list[dict[str, Any]]:
    """Call `load()` of a task's file in a box, twice, and return its instances as JSON types.

    folder: the task's package. Raises ManifestError if `load` fails, does not end within `seconds`, or gives different
    instances; SandboxError if no box can be started.
    """
    found: list[dict[str, Any]] = []
    case = {"entry": entry}
    for seed in ("1", "2"):  # what depends on the order of a set shows
        async with open_box(_config(folder, "load"), kind=sandbox) as box:
            done = await _call(box, "load", case, FairTimeout(seconds), env={"PYTHONHASHSEED": seed})
            found.append(await _result(box, done, LOADED, entry, seconds))
    if found[0] != found[1]:
        what = "two calls of load() give different instances; use a fixed seed, and no time or address"
        raise ManifestError(what, where=entry, next=f"correct {entry}, then worksample task load {folder}")
    instances: list[dict[str, Any]] = found[0]["instances"]
    return instances


async def run_start(box: Box, start: StartSpec, code: Path, *, sandbox: str, seconds: float = START_SECONDS) -> None:
    """Call `start(session, settings)` of a task for the agent's box. code: the folder that contains the task's file.

    Raises SandboxError (`service.start`) if `start` fails or does not end in time.
    """
    case = {"entry": start.entry, "settings": start.settings}
    try:
        async with open_box(_config(code, "start"), kind=sandbox) as own:
            async with serve_requests(own, SessionRequests(box).verbs()):
                done = await _call(own, "start", case, FairTimeout(seconds))
            await _result(own, done, _SMALL, start.entry, seconds)
    except ManifestError as error:
        raise SandboxError(error.what, where=start.entry, next=_NEXT, cause=Cause.SERVICE_START) from error


@asynccontextmanager
async def serve_requests(box: Box, verbs: Mapping[str, Verb]) -> AsyncIterator[RequestBroker]:
    """Answer the requests of the programs of a box with a broker until the end of the `async with` block."""
    broker = RequestBroker(verbs)
    serving = asyncio.create_task(broker.serve(await box.listen(SOCKET)))
    try:
        yield broker
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def _config(code: Path, label: str) -> BoxConfig:
    return BoxConfig(
        mounts=(Mount(str(code), CODE),), output=RESULT, scratch=SCRATCH,
        env=(("PYTHONHASHSEED", "0"), ("PYTHONDONTWRITEBYTECODE", "1")), limits=_LIMITS, python="platform", label=label,
    )  # fmt: skip


async def _call(
    box: Box, role: str, case: Mapping[str, Any], limit: FairTimeout, env: Mapping[str, str] | None = None
) -> Completed:
    await box.write(f"{SCRATCH}/case.json", json.dumps(case).encode())
    words = [f"grader={CODE}", f"result={RESULT}/result.json", f"broker={SOCKET}"]
    command = [platform_python(), "-P", "-m", "worksample.kit.lifecycle", role, f"{SCRATCH}/case.json", *words]
    return await box.run(command, timeout=limit, env=env)


async def _result(box: Box, done: Completed, limits: JsonLimits, entry: str, seconds: float) -> dict[str, Any]:
    """Return the content of a result file. Raises ManifestError if the function failed."""
    if done.starved:
        raise SandboxError("the machine was too busy", where=entry, next="stop other programs, then try again")
    tail = done.stderr.decode("utf-8", "replace").strip()[-500:]
    if done.timed_out:
        raise ManifestError(f"did not end within {seconds:g} seconds", where=entry, next=_NEXT)
    if done.oom:
        raise ManifestError(f"needed more than {_LIMITS.memory:,} bytes of memory", where=entry, next=_NEXT)
    try:
        data = await box.read(f"{RESULT}/result.json", limits.size)
        found = await asyncio.to_thread(read_json, data, limits, f"the result of {entry}")
    except ForeignInputError as fault:
        raise ManifestError(fault.what, where=entry, next=_NEXT) from fault
    except OSError as fault:
        what = "its result is too large" if fault.errno == errno.EFBIG else f"ended without a result: {tail}"
        raise ManifestError(what, where=entry, next=_NEXT) from fault
    if not isinstance(found, dict) or "failed" in found:
        reason = str(found.get("reason", "")) if isinstance(found, dict) else "its result is malformed"
        raise ManifestError(reason[:2000], where=entry, next=_NEXT)
    return found


def _require_started(done: Completed) -> dict[str, Any]:
    if done.returncode:
        raise OSError(errno.ENOEXEC, done.stderr.decode("utf-8", "replace").strip()[-200:])
    return {}


def _words(body: Mapping[str, Any]) -> list[str]:
    argv = body.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(a, str) and "\0" not in a for a in argv):
        raise MalformedRequest("argv is not a list of texts")
    return argv


def _content(body: Mapping[str, Any]) -> bytes:
    try:
        return unpack(body.get("data"))
    except ValueError as error:
        raise MalformedRequest(str(error)) from None


def _mode(body: Mapping[str, Any]) -> int:
    mode = body.get("mode", 0o644)
    if isinstance(mode, bool) or not isinstance(mode, int) or not 0 <= mode <= 0o777:
        raise MalformedRequest("mode is no number from 0 to 0o777")
    return mode
