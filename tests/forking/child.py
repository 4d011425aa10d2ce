"""In a test: a program as a process of its own, forked from one that has everything imported already."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

TESTS = Path(__file__).resolve().parents[1]
START_SECONDS = 180
"""Everything is imported by then, on whatever machine."""


class Child:
    """As `subprocess.Popen` in text mode. What it prints goes to files, which `communicate` reads in the end.

    It leads a session of its own.
    """

    def __init__(
        self, module: str, argv: Sequence[object], env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        asked = {
            "module": module, "argv": [str(word) for word in argv], "env": dict(os.environ if env is None else env),
            "cwd": str(cwd or Path.cwd()),
        }  # fmt: skip
        self.returncode: int | None = None
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.connect(_server())
        with self._streams() as streams:
            socket.send_fds(self._line, [json.dumps(asked).encode()], streams)
        self.pid = int(self._line.recv(100))

    @contextmanager
    def _streams(self) -> Iterator[list[int]]:
        """Its standard streams, until it has them."""
        self._out, self._err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - closed where they are read
        with Path(os.devnull).open("rb") as nothing:
            yield [nothing.fileno(), self._out.fileno(), self._err.fileno()]

    def wait(self, timeout: float | None = 300) -> int:
        """Its exit code, minus the signal that ended it. subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                self.returncode = int(self._line.recv(100))
            except TimeoutError:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None
            self._line.close()
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.001)
        return self.returncode

    @property
    def printed(self) -> str:
        """What is on its standard output by now."""
        return os.pread(self._out.fileno(), 1 << 20, 0).decode()

    def printing(self, done: Callable[[str], bool], patience: float = 300) -> str:
        """What it has printed once that is enough. AssertionError where it ends before."""
        until = time.monotonic() + patience
        while not done(self.printed):
            ended = self.poll() is not None
            assert done(self.printed) or not (ended or time.monotonic() > until), (self.printed, _text(self._err))
            time.sleep(0.02)
        return self.printed

    def communicate(self, timeout: float | None = 300) -> tuple[str, str]:
        """All that it printed, once it has ended."""
        self.wait(timeout)
        return _text(self._out), _text(self._err)

    def send_signal(self, number: signal.Signals) -> None:
        """ProcessLookupError where it has ended."""
        os.kill(self.pid, number)


class Talking(Child):
    """One that is talked to while it runs: what it reads and what it prints are pipes."""

    @contextmanager
    def _streams(self) -> Iterator[list[int]]:
        self._err = tempfile.TemporaryFile()  # noqa: SIM115 - closed where it is read
        reads, writes = os.pipe(), os.pipe()
        self.stdin, self.stdout = open(reads[1], "w"), open(writes[0])  # noqa: SIM115, PTH123 - of descriptors
        yield [reads[0], writes[1], self._err.fileno()]
        os.close(reads[0])
        os.close(writes[1])

    def communicate(self, timeout: float | None = 300) -> tuple[str, str]:
        """What it has printed that was not read yet, once it has ended."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        with self.stdout:
            out = self.stdout.read()
        self.wait(timeout)
        return out, _text(self._err)

    def kill(self) -> None:
        """Without warning, where it has not ended by itself."""
        with suppress(ProcessLookupError):
            self.send_signal(signal.SIGKILL)


def ended(
    module: str, *argv: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A program that was run to its end."""
    running = Child(module, argv, env, cwd)
    out, err = running.communicate()
    return subprocess.CompletedProcess([module, *map(str, argv)], running.wait(), out, err)


def _text(file: IO[bytes]) -> str:
    with file:
        file.seek(0)
        return file.read().decode()


SHARED = True
"""Whether all processes of a run of tests have one server: what it imports is seconds of processor."""


@cache
def _server() -> str:
    """The socket of the server, which lives as long as a process that asked for it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") if SHARED else None
    path = Path(tempfile.gettempdir()) / f"worksample-tests-{run or os.getpid()}.forking"
    lock = path.with_suffix(".forking-lock")
    kept = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            kept.connect(str(path))
        except OSError:  # nobody has started it, or it has ended
            _begin(path)
            kept.connect(str(path))
    _held.append(kept)
    if run is None:  # those of a run are removed with its other locks
        atexit.register(lock.unlink)
    return str(path)


_held: list[socket.socket | subprocess.Popen[bytes]] = []
"""What keeps the server, and the server where this process started it."""


def _begin(path: Path) -> None:
    path.unlink(missing_ok=True)
    places = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    server = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("server.py"), str(path)],
        stdin=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": places, "INSPECT_DISPLAY": "none",
             "OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"},
    )  # fmt: skip
    until = time.monotonic() + START_SECONDS
    while not path.exists():
        assert server.poll() is None and time.monotonic() < until, "the fork server did not start"
        time.sleep(0.02)
    _held.append(server)
