"""A process that has everything imported and forks programs from there: a program costs a fork, and no start-up.

`python server.py SOCKET`. Each connection asks for one program: JSON with `module`, `argv`, `env`, `cwd`, and three
descriptors for its standard streams. It is told the process id, then the exit code (minus the signal that ended it).
A program whose connection ends is killed. A connection that asks for nothing keeps the server, which ends with the last
of those: so it serves all processes of a run of tests, and outlives none of them.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

PACKAGES = ("cli", "runs", "agents", "sandboxes", "tasks")
MODULES = (
    "worksample.experiments.experiment_runner",
    "worksample.experiments.config_file",
    "worksample.experiments.status",
    "worksample.experiments.package_intake",
    "worksample.grading",
    "worksample.people",
    "worksample.app.server.middleware.cross_site_guard",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "inspect_ai.agent._acp.server",
    "inspect_ai.model._openai_responses",
    "sqlalchemy.orm",
    "rich.markdown",
    "jsonschema.validators",
    "anyio._backends._asyncio",
    "hypothesis",
    "pytest",
    "xdist.workermanage",
)
"""What a run imports late, and what tests of the tests' own machinery do."""
MESSAGE = 1 << 18
"""Bytes of the longest request."""


def preload() -> None:
    """What programs would import, Inspect's extensions too, but for polars, which has threads."""
    from inspect_ai.model import get_model, get_model_info

    get_model("mockllm/model")
    get_model_info("mockllm/model")
    for name in PACKAGES:
        package = importlib.import_module(f"worksample.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in MODULES:
        importlib.import_module(name)
    threads = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    assert len(threads) == 1, f"a process with threads cannot be forked safely: {threads}"
    gc.freeze()


class Server:
    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: dict[int, tuple[int, socket.socket]] = {}
        self._selector = selectors.PollSelector()
        self._silent: dict[int, socket.socket] = {}
        """Connections that have asked for nothing: of who is about to, and of who keeps the server."""
        self._selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> dict[str, Any] | None:
        """In a forked process what it is to run; None once the server is to end."""
        while True:
            found = [key for key, _ in self._selector.select()]
            # Who is new comes last, and so gets no number that an event of before still means.
            for key in sorted(found, key=lambda key: key.fileobj is self._listener):
                if key.fileobj not in self._selector.get_map():
                    continue  # closed just now
                if key.fileobj is self._listener:
                    connection, _ = self._listener.accept()
                    self._silent[connection.fileno()] = connection
                    self._selector.register(connection, selectors.EVENT_READ)
                elif key.fd in self._silent:
                    asked = self._begin(self._silent.pop(key.fd))
                    if asked is not None:
                        return asked
                    if not self._silent:
                        return self._end()
                elif key.fd in self._running:
                    self._ended(key.fd)
                else:
                    self._abandoned(key.fd)

    def _begin(self, connection: socket.socket) -> dict[str, Any] | None:
        self._selector.unregister(connection)
        data, streams, _, _ = socket.recv_fds(connection, MESSAGE, 3)
        if not data:  # who kept the server has gone
            connection.close()
            return None
        pid = os.fork()
        if pid == 0:
            running = (line for _, line in self._running.values())
            for other in (self._listener, connection, *self._silent.values(), *running):
                other.close()
            for handle in self._running:
                os.close(handle)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            asked: dict[str, Any] = json.loads(data)
            return asked
        for stream in streams:
            os.close(stream)
        handle = os.pidfd_open(pid)
        self._running[handle] = pid, connection
        self._selector.register(handle, selectors.EVENT_READ)
        self._selector.register(connection, selectors.EVENT_READ)
        connection.send(str(pid).encode())
        return None

    def _ended(self, handle: int) -> None:
        pid, connection = self._running.pop(handle)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._selector.unregister(handle)
        if connection in self._selector.get_map():
            self._selector.unregister(connection)
        os.close(handle)
        with connection:
            try:
                connection.send(str(code).encode())
            except OSError:
                return  # nobody waits for it any more

    def _abandoned(self, number: int) -> None:
        """The other side of a connection is gone: so is whoever wanted the program."""
        pid, connection = next(one for one in self._running.values() if one[1].fileno() == number)
        self._selector.unregister(connection)
        os.kill(pid, signal.SIGKILL)

    def _end(self) -> None:
        for pid, _ in self._running.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def main(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        preload()
        listener.bind(f"{path}.new")
        listener.listen(64)
        Path(f"{path}.new").rename(path)  # who finds it may connect
        asked = Server(listener).serve()
    if asked is None:
        Path(path).unlink(missing_ok=True)
        return
    os.setsid()
    # Where the tests were started in the background it is ignored, and interrupts are what some of them send.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(asked["env"])
    tempfile.tempdir = None  # asked for anew, of this environment
    os.chdir(asked["cwd"])
    sys.argv = [asked["module"], *asked["argv"]]
    try:
        runpy.run_module(asked["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        leave(end.code or 0)
    leave(0)


def leave(code: int) -> None:
    """All that a process does at its end, but for taking its modules apart: with so many, that is half a second."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
