"""A pool of few, long-lived processes that read untrusted input, with limits on processor time and memory."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from worksample.errors import ForeignInputError, ForeignWorkLost

from .json_limits import JsonLimits, count_values, read_json

MOST = 2
"""Maximum number of processes; further requests wait."""
SECONDS = 10
"""Maximum processor time of one request."""
MEMORY = 3 << 29
"""Maximum bytes of one process, including its libraries."""
LENGTH = struct.Struct("!Q")
Data = bytes | bytearray | Sequence[bytes | bytearray]
"""Bytes, in one or several pieces."""


class WorkerPool:
    """Processes that answer one request after another. They end with this process, however it ends."""

    def __init__(self, most: int = MOST, seconds: int = SECONDS, memory: int = MEMORY) -> None:
        self._limits = (seconds, memory)
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="worksample-apart")
        self._own = threading.local()
        self._all: set[_Worker] = set()
        self._closed = False

    async def run(self, function: str, data: Data, *more: Any) -> Any:
        """Call `function` (`package.module:name`) with these bytes and further arguments in a process, and return its
        result.

        Raises ForeignInputError if the function raises it or exceeds a limit, ForeignWorkLost if its process was
        killed.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, function, data, more)

    def warm(self, module: str) -> None:
        """Let a process import a module, so that the first request does not wait for it."""
        self._threads.submit(self._run, "worksample.files.untrusted.reader_process:load", b"", (module,))

    def close(self) -> None:
        """End all processes. Requests in progress are lost."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in tuple(self._all):
            worker.process.kill()

    def _run(self, function: str, data: Data, more: tuple[Any, ...]) -> Any:
        """Answer requests in a thread that owns a process."""
        for again in range(3):
            worker = self._worker()
            try:
                kind, value = worker.ask(function, data, more)
                break
            except (OSError, EOFError):
                self._own.worker = None
                self._all.discard(worker)
                status = worker.end()
                # An idle process may have ended; a killed one is replaced once.
                if status == -signal.SIGPROF or self._closed or again == 2 or (status and again):
                    raise _why_lost(status, self._limits[0]) from None
        if kind == "refused":
            raise ForeignInputError(*value)
        if kind == "failed":
            raise ForeignWorkLost(value)
        return value

    def _worker(self) -> _Worker:
        """Return this thread's process."""
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = _Worker(*self._limits)
            self._all.add(worker)
            if self._closed:
                worker.process.kill()
        return worker


class _Worker:
    """A process and the pipes to it."""

    def __init__(self, seconds: int, memory: int) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "worksample.files.untrusted.reader_process",
                str(os.getpid()),
                str(seconds),
                str(memory),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._into: IO[bytes] = self.process.stdin
        self._out: IO[bytes] = self.process.stdout

    def ask(self, function: str, data: Data, more: tuple[Any, ...]) -> tuple[str, Any]:
        """Send one request and return its answer. Raises OSError or EOFError if the process has ended."""
        head = pickle.dumps((function, more))
        pieces = [data] if isinstance(data, bytes | bytearray) else data
        self._into.write(LENGTH.pack(len(head)) + head + LENGTH.pack(sum(map(len, pieces))))
        for piece in pieces:
            self._into.write(piece)
        self._into.flush()
        size = self._out.read(LENGTH.size)
        if len(size) < LENGTH.size:
            raise EOFError
        answer = self._out.read(LENGTH.unpack(size)[0])
        kind, value = pickle.loads(answer)
        return str(kind), value

    def end(self) -> int:
        """End the process if necessary, and return its exit status."""
        for pipe in (self._into, self._out):
            try:
                pipe.close()
            except OSError:
                continue
        try:
            return self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def _why_lost(status: int, seconds: int) -> ForeignInputError | ForeignWorkLost:
    if status == -signal.SIGPROF:
        return ForeignInputError(f"reading the file takes more than {seconds} s of processor time", too_large=True)
    return ForeignWorkLost(f"the process that reads untrusted input ended with status {status}")


_shared: WorkerPool | None = None
_lock = threading.Lock()


def shared_worker_pool() -> WorkerPool:
    """Return the pool that this whole program shares."""
    global _shared  # noqa: PLW0603 - started when first needed
    with _lock:
        if _shared is None:
            _shared = WorkerPool()
        return _shared


def close_shared_worker_pool() -> None:
    """End the shared processes; the next `shared_worker_pool()` starts new ones."""
    global _shared
    with _lock:
        ended, _shared = _shared, None
    if ended is not None:
        ended.close()


USUAL = JsonLimits()
SMALL_BYTES, SMALL_VALUES = 1 << 16, 2000
"""Limits of input that is parsed in this process; it takes a few milliseconds."""


async def parse_json(data: bytes | bytearray, limits: JsonLimits = USUAL, what: str = "the body") -> Any:
    """Parse JSON like `read_json`, but large input in a separate process. Raises ForeignInputError, ForeignWorkLost."""
    if len(data) <= SMALL_BYTES and count_values(data) <= SMALL_VALUES:
        return read_json(data, limits, what)
    return await shared_worker_pool().run("worksample.files.untrusted.json_limits:read_json", data, limits, what)
