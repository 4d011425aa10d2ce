"""The host's side of a box that has an exec server. It works with every kind of holder."""

from __future__ import annotations

import asyncio
import errno
import os
import pathlib
import posixpath
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from worksample.box import BoxConfig, Completed, Endpoint, FairTimeout, Timeout
from worksample.errors import SandboxError
from worksample.sandboxes import bubblewrap_layout as layout
from worksample.sandboxes.exec_client import RemoteConnection, RemoteListener, RemoteProcess
from worksample.sandboxes.exec_streams import BoxExchange

from .box_files_on_host import read_contained
from .box_holder import Holder
from .cancellation_shield import to_the_end
from .dial_client import DialClient, connect_socket
from .exec_client import ExecConnection
from .in_box import frames

START_WAIT = 120.0
"""Maximum seconds that a box may take to start. A box usually starts many times faster, but machines can be busy."""


class ServedBox:
    """A box in its own Linux namespaces, controlled over an exec server."""

    def __init__(self, config: BoxConfig, holder: Holder) -> None:
        self.config = config
        self._holder = holder
        self._env = layout.environment(config)
        self._link: ExecConnection | None = None
        self._root = self._output = self._changes = -1
        self._endpoints: dict[Endpoint, socket.socket] = {}
        """Listening sockets of the endpoints that nobody serves yet."""
        self._dialler: DialClient | None = None
        self._fair: WeakKeyDictionary[FairTimeout, BoxExchange] = WeakKeyDictionary()
        """Timeout -> the running command whose time the timeout can stop."""
        self._frozen = self._closed = False

    async def open(self) -> None:
        """Start the holder and the exec server, and wait until the box is ready."""
        plan = self._holder.plan()
        try:
            self._link = ExecConnection(await self._holder.start())
            adopting = asyncio.create_task(asyncio.to_thread(self._holder.adopt))  # while the exec server starts
            try:
                self._root, self._output, dialling, *served = await self._link.handshake(plan, START_WAIT)
                self._dialler = DialClient(dialling)
                if self.config.root is not None:
                    self._changes = served.pop(0)
                for endpoint, descriptor in zip(self.config.endpoints, served, strict=True):
                    self._endpoints[endpoint] = socket.socket(fileno=descriptor)
            finally:
                await to_the_end(adopting)
            if self.config.root is not None and self.config.root.entrypoint:
                self._begin([*self.config.root.entrypoint, "sleep", "infinity"], None, None, None, 1 << 16, b"")
        except SandboxError as failure:
            reason = self._holder.messages()
            raise SandboxError(
                f"{failure.what}: {reason[-2000:]}" if reason else failure.what, where="box", next="worksample doctor"
            ) from None

    # files and commands

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
        """Run a program in the box until it exits, and return its output and exit status. The failure of a program
        raises no error.
        """
        link = self._usable()
        limit = self.config.limits.output if output_limit is None else output_limit
        kills, before = self._kills(), self._holder.processor_seconds() if isinstance(timeout, FairTimeout) else None
        reply = await link.finish(self._begin(argv, cwd, env, timeout, limit, input))
        starved = bool(reply.flags & frames.STARVED)
        if starved and before is not None and isinstance(timeout, FairTimeout):
            # A command could hide its work in children that it never waits for: their time is in no process's account.
            used = (self._holder.processor_seconds() or before) - before
            starved = used < timeout.seconds
        return Completed(
            reply.returncode,
            bytes(reply.out.data),
            bytes(reply.err.data),
            bool(reply.flags & frames.TIMED_OUT),
            bool(reply.flags & frames.TRUNCATED),
            self._kills(link) > kills,
            reply.seconds,
            starved,
            reply.counted,
        )

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Timeout = None,
    ) -> RemoteProcess:
        """Start a program in the box with input and output as streams."""
        link = self._usable()
        exchange = self._begin(argv, cwd, env, timeout, None, None)
        return RemoteProcess(exchange, lambda: self._kills(link))

    def _begin(
        self,
        argv: Sequence[str],
        cwd: str | None,
        env: Mapping[str, str] | None,
        timeout: Timeout,
        limit: int | None,
        data: bytes | None,
    ) -> BoxExchange:
        if not argv:
            raise SandboxError("there is no command to run", where="box", next="pass the program and its arguments")
        body: dict[str, Any] = {
            "op": "run",
            "argv": list(argv),
            "cwd": posixpath.join(self.config.folder, cwd or ""),
            "env": {**self._env, **(env or {})},
            "timeout": self.config.limits.time if timeout is None else timeout,
            "limit": limit,
        }
        if isinstance(timeout, FairTimeout):
            body |= {"timeout": None, "fair": (timeout.seconds, timeout.backstop)}
        exchange = self._usable().begin(body, data)
        exchange.name = argv[0]
        if isinstance(timeout, FairTimeout):
            self._fair[timeout] = exchange
            if timeout.held:
                self.hold(timeout, True)
        return exchange

    def hold(self, timeout: FairTimeout, held: bool) -> None:
        """Stop the time of the command that runs under `timeout`, or let the time continue if `held` is False."""
        timeout.held = held
        if (exchange := self._fair.get(timeout)) is not None:
            exchange.send(frames.HOLD, b"1" if held else b"")

    def _kills(self, link: ExecConnection | None = None) -> int:
        link = link or self._link
        return self._holder.oom_kills() + (link.memory_kills if link else 0)

    async def connect(self, path: str) -> RemoteConnection:
        """Connect to a Unix socket on which a program in the box listens. Raises OSError if that fails."""
        link = self._usable()
        return RemoteConnection(link, await self._reach(link, "connect", path))

    async def listen(self, path: str) -> RemoteListener:
        """Create a Unix socket in the box and listen on it. Raises OSError if that fails."""
        link = self._usable()
        return RemoteListener(link, await self._reach(link, "listen", path))

    async def _reach(self, link: ExecConnection, op: str, path: str) -> BoxExchange:
        path = posixpath.join(self.config.folder, path)
        body = {"op": op, "path": path, "cwd": "/", "timeout": None, "limit": None}
        exchange = link.begin(body, None)
        exchange.lasting, reached = True, False
        try:
            await asyncio.shield(exchange.done)
            _raise_file_error(exchange, path)
            reached = True
        finally:
            if not reached:
                link.release(exchange)
        return exchange

    def serve(self, endpoint: Endpoint) -> socket.socket:
        """Return the listening TCP socket behind an endpoint of the box. The caller must close the socket."""
        own = self._endpoints.pop(endpoint, None)
        if own is None:
            raise SandboxError(
                f"{endpoint} is not an endpoint of the box, or already has a server",
                where="box",
                next="serve each endpoint of its config once",
            )
        own.setblocking(False)
        return own

    async def dial(self, port: int, address: str = "127.0.0.1") -> socket.socket:
        """Return a TCP connection to a program that listens on the box's loopback. The caller must close the
        connection.
        """
        self._usable()
        assert self._dialler is not None
        return await connect_socket(await self._dialler.new_socket(), address, port)

    async def read(self, path: str, limit: int) -> bytes:
        """Return the content of a regular file of the box. If the box is frozen, only files in its writable folders can
        be read. If the box is dead, only files in its output folder can be read.
        """
        path = posixpath.join(self.config.folder, path)
        if self._root < 0:
            raise SandboxError("the box was closed", where="box", next="open a new box")
        if self._link is None:
            if not path.startswith(self.config.output + "/"):
                raise SandboxError(
                    f"{path} cannot be read: only the output folder remains after a box has ended",
                    where="box",
                    next="read the file before the box is ended",
                )
            inner = path.removeprefix(self.config.output)
            return await asyncio.to_thread(read_contained, self._output, self._output, inner, limit)
        if self._frozen:
            return await asyncio.to_thread(read_contained, self._root, self._output, path, limit)
        return bytes((await self._file("read", path, limit=limit)).out.data)

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Create or replace a regular file of the box, and create its parent folders."""
        await self._file("write", posixpath.join(self.config.folder, path), data, mode=mode)

    async def _file(self, op: str, path: str, data: bytes = b"", *, limit: int = 0, mode: int = 0) -> BoxExchange:
        body: dict[str, Any] = {"op": op, "path": path, "cwd": "/", "timeout": None, "limit": limit, "mode": mode}
        reply = await self._usable().request(body, data)
        _raise_file_error(reply, path)
        return reply

    def _usable(self) -> ExecConnection:
        if self._link is None or self._closed:
            raise SandboxError("the box was closed", where="box", next="open a new box")
        if self._frozen:
            raise SandboxError("the box is frozen", where="box", next="thaw it first")
        return self._link

    # the whole box

    async def freeze(self) -> None:
        """Stop every process of the box."""
        if not self._frozen:
            link = self._usable()
            if not await asyncio.to_thread(self._holder.freeze, True):
                await link.signal_all(frames.STOP)
            self._frozen = True

    async def thaw(self) -> None:
        """Let the processes of the frozen box continue."""
        if self._frozen:
            self._frozen = False
            if not await asyncio.to_thread(self._holder.freeze, False):
                await self._usable().signal_all(frames.CONTINUE)

    async def clear(self) -> None:
        """Kill every process that runs in the box. The box and its files stay."""
        await self._usable().signal_all(frames.CLEAR)

    @property
    def output_path(self) -> pathlib.Path:
        """Path on the host of the box's output folder. The content of the folder is untrusted."""
        if self._output < 0:
            raise SandboxError("the box was closed", where="box", next="open a new box")
        return pathlib.Path(f"/proc/{os.getpid()}/fd/{self._output}")

    @property
    def changes_path(self) -> pathlib.Path:
        """Path on the host of the changes to the box's root file system."""
        if self._changes < 0:
            raise SandboxError(
                "the box has no root of its own, or was closed", where="box", next="open a box of an image"
            )
        return pathlib.Path(f"/proc/{os.getpid()}/fd/{self._changes}")

    async def hurry(self) -> None:
        """Give a background box the processor share of a normal box, if this machine can do that."""
        self._usable()
        await asyncio.to_thread(self._holder.hurry)

    async def kill(self) -> None:
        """Kill the processes of the box. `output_path` can still be read. Idempotent."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()  # an exec server that is not frozen ends by this alone
        await asyncio.to_thread(self._holder.end)

    async def close(self) -> None:
        """Kill the box and remove everything that belongs to it. Idempotent."""
        if not self._closed:
            self._closed = True
            await to_the_end(self._end())

    async def _end(self) -> None:
        await self.kill()
        for descriptor in (self._root, self._output, self._changes):
            if descriptor >= 0:
                os.close(descriptor)
        self._root = self._output = self._changes = -1
        if self._dialler is not None:
            self._dialler.close()
        while self._endpoints:
            self._endpoints.popitem()[1].close()
        await asyncio.to_thread(self._holder.remove)


def _raise_file_error(reply: BoxExchange, path: str) -> None:
    """Raise the OSError that the exec server reported for a file operation on `path`, or OSError with EIO if the
    operation was ended from inside the box. Return normally if the operation succeeded.
    """
    if reply.errno:
        raise OSError(reply.errno, os.strerror(reply.errno), path)
    if reply.returncode:
        raise OSError(errno.EIO, "the operation was ended from inside the box", path)


async def start(config: BoxConfig, hold: Callable[[BoxConfig], Holder]) -> ServedBox:
    """Start a box whose holder is created by `hold`. `hold` is called in this thread and must not block. Raises
    SandboxUnavailable if this machine cannot start the box; SandboxError for other failures.
    """
    box = ServedBox(config, hold(config))
    ready = False
    try:
        await box.open()
        ready = True
    finally:
        if not ready:
            await box.close()
    return box
