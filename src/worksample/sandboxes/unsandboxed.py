"""A box without any protection, called a plain box: subprocesses in a temporary folder, with the rights of the
platform's user.

A plain box is only for trusted work on machines without a sandbox, and only by explicit request. Nothing is contained.
Programs can read every file that the platform can read, use the network, and exceed all limits except time and captured
output. A program that clears its environment outlives the box. Mounts are symbolic links.

Paths of the box (mounts, output, scratch, home and other writable folders, not /tmp) are translated to host paths in
arguments, in the environment, and in `read`, `write` and `cwd`. A path inside a program's file is not translated, so
the program will not find it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import pathlib
import posixpath
import re
import shutil
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

from worksample.box import BoxConfig, Completed, Endpoint, FairTimeout, Process, Timeout
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.sandboxes.bubblewrap_layout import HOME, NICE_COMMAND, environment
from worksample.sandboxes.orphan_sweeper import sweep_first
from worksample.sandboxes.pipes import PipeReader, PipeWriter, SocketConnection, SocketListener, open_socket
from worksample.sandboxes.python_toolbox import platform_python, toolbox_folder
from worksample.sandboxes.unsandboxed_commands import CommandGroups, PlainProcess, UnstartedProcess

from .cancellation_shield import to_the_end
from .dial_client import connect_socket
from .host_state import BoxFolder
from .processes_by_variable import MARK, kill_marked

T = TypeVar("T")
_CLOSED = "the box was closed"


class PlainBox:
    """A box without protection: a temporary folder with the same folders as a box."""

    def __init__(self, config: BoxConfig) -> None:
        self.config = config
        self._folder = BoxFolder(config.label, kind="plain")
        self._root = self._folder.path / "root"
        self._writable = (config.output, config.scratch, *config.writable, HOME)
        for path in self._writable:
            (self._root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for mount in config.mounts:
            link = self._root / mount.target.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            if link.is_dir() and not link.is_symlink() and not any(link.iterdir()):
                link.rmdir()
            link.symlink_to(pathlib.Path(mount.source).absolute())
        known = sorted((*self._writable, *(mount.target for mount in config.mounts)), key=len, reverse=True)
        self._known = re.compile(r"(?<![\w./-])(?:" + "|".join(map(re.escape, known)) + r")(?![\w.-])")
        self._groups = CommandGroups()
        self._fair: WeakKeyDictionary[FairTimeout, PlainProcess] = WeakKeyDictionary()
        """Timeout -> the running command whose time the timeout can stop."""
        self._sockets: list[SocketConnection | SocketListener] = []
        self._frozen = self._closed = self._killed = False
        self._env = self._environment()

    def _environment(self) -> dict[str, str]:
        given = {name: self._host_text(value) for name, value in environment(self.config).items()}
        first = pathlib.Path(platform_python()).parent if self.config.python == "platform" else None
        if self.config.python == "toolbox":
            first = toolbox_folder() / "bin"
        given[MARK] = str(self._folder.path)
        given["PATH"] = ":".join([*([str(first)] if first else []), os.environ.get("PATH", os.defpath)])
        return given

    def _host_text(self, text: str) -> str:
        """Return the text with every path of the box replaced by the corresponding path on the host."""
        return self._known.sub(lambda found: f"{self._root}{found[0]}", text)

    def _host_path(self, path: str) -> str:
        return self._host_text(posixpath.join(self.config.scratch, path))

    def _usable(self) -> None:
        if self._killed or self._frozen:
            raise SandboxError(
                _CLOSED if self._killed else "the box is frozen",
                where="box",
                next="open a new box" if self._killed else "thaw it first",
            )

    async def run(
        self,
        argv: Sequence[str],
        *,
        input: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Timeout = None,
        output_limit: int | None = None,
    ) -> Completed:
        """Run a program until it exits, and return its output and exit status. The failure of a program raises no
        error.
        """
        limit = self.config.limits.output if output_limit is None else output_limit
        try:
            process = self._begin(argv, cwd, env, timeout)
        except (OSError, ValueError) as failure:
            code, text = self._start_failure(failure, argv, cwd)
            return Completed(code, b"", text)
        ended = False
        kept = _LimitedOutput(limit)
        try:
            out, err, _, how = await asyncio.gather(
                kept.read_all(process.stdout),
                kept.read_all(process.stderr),
                _write_input(process.stdin, input),
                process.wait(),
            )
            ended = True
        finally:
            if not ended:
                process.signal(signal.SIGKILL)
                process.close_streams()
        return Completed(
            how.returncode, out, err, how.timed_out, kept.truncated, False, how.seconds, how.starved, how.counted
        )

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Timeout = None,
    ) -> Process:
        """Start a program with input and output as streams."""
        try:
            return self._begin(argv, cwd, env, timeout)
        except (OSError, ValueError) as failure:
            return UnstartedProcess(*self._start_failure(failure, argv, cwd))

    def _begin(
        self, argv: Sequence[str], cwd: str | None, env: Mapping[str, str] | None, timeout: Timeout
    ) -> PlainProcess:
        self._usable()
        if not argv:
            raise SandboxError("there is no command to run", where="box", next="pass the program and its arguments")
        words = [*(NICE_COMMAND if self.config.background else ()), *(self._host_text(word) for word in argv)]
        values = {**self._env, **{name: self._host_text(value) for name, value in (env or {}).items()}}
        process = self._groups.start(words, self._host_path(cwd or ""), values)
        process.limit(self.config.limits.time if timeout is None else timeout)
        if isinstance(timeout, FairTimeout):
            self._fair[timeout] = process
        return process

    def hold(self, timeout: FairTimeout, held: bool) -> None:
        """Stop the time of the command that runs under `timeout`, or let the time continue if `held` is False."""
        timeout.held = held
        if (process := self._fair.get(timeout)) is not None:
            process.hold(held)

    def _start_failure(self, failure: OSError | ValueError, argv: Sequence[str], cwd: str | None) -> tuple[int, bytes]:
        """Return the exit code and the error text of a command that could not be started."""
        number = (failure.errno if isinstance(failure, OSError) else None) or errno.EINVAL
        folder = self._host_path(cwd or "")
        text = f"{argv[0] if pathlib.Path(folder).is_dir() else folder}: {os.strerror(number)}\n"
        return 127 if number == errno.ENOENT else 126, text.encode(errors="replace")

    async def connect(self, path: str) -> SocketConnection:
        """Connect to a Unix socket on which a program listens. Raises OSError if that fails."""
        while True:
            self._usable()
            try:
                connection = SocketConnection(
                    _with_path(path, lambda: open_socket(self._host_path(path), listen=False))
                )
            except BlockingIOError:  # too many connections wait to be accepted
                await asyncio.sleep(0.01)
                continue
            self._track(connection)
            return connection

    async def listen(self, path: str) -> SocketListener:
        """Create a Unix socket and listen on it. Raises OSError if that fails."""
        self._usable()
        own = _with_path(path, lambda: open_socket(self._host_path(path), listen=True))
        listener = SocketListener(own, self._track)
        self._track(listener)
        return listener

    def _track(self, opened: SocketConnection | SocketListener) -> None:
        """Remember a socket, so that it is closed together with the box."""
        self._sockets = [*(held for held in self._sockets if not held.is_over()), opened]

    def serve(self, endpoint: Endpoint) -> socket.socket:
        """Raise an error, because a plain box has no endpoints: `start` refuses a config with endpoints."""
        raise SandboxError(
            f"the endpoint {endpoint} cannot be opened: a box without isolation has none",
            where="box",
            next="leave --unsandboxed out",
        )

    async def dial(self, port: int, address: str = "127.0.0.1") -> socket.socket:
        """Return a TCP connection to a program that listens on the loopback. The loopback of a plain box is the
        loopback of the host.
        """
        self._usable()
        return await connect_socket(socket.socket(), address, port)

    async def read(self, path: str, limit: int) -> bytes:
        """Return the content of a regular file of the box."""
        if self._closed:
            raise SandboxError("the box was closed", where="box", next="open a new box")
        from .in_box.files import read_file

        pieces = bytearray()
        await asyncio.to_thread(_with_path, path, lambda: read_file(self._host_path(path), limit, pieces.extend))
        return bytes(pieces)

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Create or replace a regular file of the box, and create its parent folders."""
        self._usable()
        from .in_box.files import write_file

        pieces = [data, b""]
        await asyncio.to_thread(
            _with_path, path, lambda: write_file(self._host_path(path), mode, lambda: pieces.pop(0))
        )

    async def freeze(self) -> None:
        """Stop the running processes of the box. Processes that left their process group continue."""
        self._usable()
        self._frozen = True
        self._groups.signal(signal.SIGSTOP)

    async def thaw(self) -> None:
        """Let the stopped processes of the box continue."""
        self._frozen = False
        self._groups.signal(signal.SIGCONT)

    async def clear(self) -> None:
        """Kill the running processes of the box. Processes that left their process group survive."""
        self._usable()
        self._groups.signal(signal.SIGKILL)

    @property
    def output_path(self) -> pathlib.Path:
        """Path on the host of the box's output folder."""
        return self._root / self.config.output.lstrip("/")

    @property
    def changes_path(self) -> pathlib.Path:
        """Raise SandboxError, because a plain box has no root of its own."""
        raise SandboxError(
            "a box without isolation has no root of its own", where="box", next="leave --unsandboxed out"
        )

    async def hurry(self) -> None:
        """Give the running processes of a background box the usual priority, if the platform's user may do that."""
        self._usable()
        self._groups.hurry()

    async def kill(self) -> None:
        """Kill the processes of the box. `output_path` can still be read. Idempotent."""
        self._frozen, self._killed = False, True
        for one in self._sockets:
            one.abort(_CLOSED)
        self._sockets.clear()
        self._groups.end(_CLOSED)

    async def close(self) -> None:
        """Kill the processes of the box and remove its folder. Idempotent."""
        if not self._closed:
            self._closed = True
            await to_the_end(self._end())

    async def _end(self) -> None:
        await self.kill()
        await asyncio.to_thread(kill_marked, self._folder.path)
        await asyncio.to_thread(shutil.rmtree, self._folder.path, ignore_errors=True)


def _with_path(path: str, act: Callable[[], T]) -> T:
    """Return the result of the file operation `act`. If it raises OSError, the error names `path`, the path that the
    caller gave.
    """
    try:
        return act()
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None


async def _write_input(stdin: PipeWriter, data: bytes) -> None:
    """Write the input to a program until the program stops reading it."""
    with contextlib.suppress(BrokenPipeError):
        await stdin.write(data)
    await stdin.close()


class _LimitedOutput:
    """The output of a command on stdout and stderr together, up to a maximum number of bytes."""

    def __init__(self, limit: int) -> None:
        self._left, self.truncated = limit, False

    async def read_all(self, reader: PipeReader) -> bytes:
        """Read a stream to its end and return the bytes that are within the maximum."""
        kept = bytearray()
        while data := await reader.read():
            self.truncated = self.truncated or len(data) > self._left
            kept += data[: self._left]
            self._left -= min(len(data), self._left)
        return bytes(kept)


async def start(config: BoxConfig) -> PlainBox:
    """Start a plain box. Raises SandboxUnavailable if the config has an image or endpoints."""
    if config.root is not None:
        raise SandboxUnavailable(
            "without isolation, images cannot be used",
            where="box",
            next="worksample doctor, then leave --unsandboxed out",
        )
    if config.endpoints:
        raise SandboxUnavailable(
            "without isolation, endpoints are not available: the machine's own resolver would resolve their names",
            where="box",
            next="worksample doctor, then leave --unsandboxed out",
        )
    await asyncio.to_thread(sweep_first)
    return PlainBox(config)
