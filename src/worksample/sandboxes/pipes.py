"""Readers and writers over file descriptors of this process. They have no buffer: unread bytes stay in the pipe."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import sys
from collections.abc import Callable

from worksample.errors import SandboxError

_FIONREAD = 0x541B


class Descriptor:
    """A non-blocking file descriptor, or two that are closed together, and the task that waits for it."""

    def __init__(self, number: int, close: Callable[[], object] | None = None) -> None:
        """Wrap a descriptor. If `close` is given, it is called in place of closing the descriptor."""
        os.set_blocking(number, False)
        self.number = number
        self.closed = False
        self.failure = ""
        self._close = close
        self._waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()

    async def ready(self, *, read: bool) -> None:
        """Wait until the descriptor can be read or written, is closed, or `wake` is called."""
        loop = self._loop
        add, remove = (loop.add_reader, loop.remove_reader) if read else (loop.add_writer, loop.remove_writer)
        self._waiter = self._loop.create_future()
        add(self.number, self.wake)
        try:
            await self._waiter
        finally:
            if not self.closed:
                remove(self.number)

    def wake(self) -> None:
        """Make the waiting task check the descriptor again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self, failure: str = "") -> None:
        """Close the descriptor. Idempotent. `failure` is the reason if the descriptor is closed because the box was
        closed.
        """
        if self.closed:
            return
        self.closed, self.failure = True, failure
        self._loop.remove_reader(self.number)
        self._loop.remove_writer(self.number)
        self.wake()
        if self._close is not None:
            self._close()
        else:
            os.close(self.number)


class PipeReader:
    """A Reader of a pipe of this process."""

    def __init__(self, descriptor: Descriptor) -> None:
        self.descriptor = descriptor
        self._rest: int | None = None

    def end_writing(self) -> None:
        """Limit reading to the bytes that are already in the pipe, because the writing process has exited."""
        if not self.descriptor.closed and self._rest is None:
            waiting = bytearray(4)
            fcntl.ioctl(self.descriptor.number, _FIONREAD, waiting)
            self._rest = int.from_bytes(waiting, sys.byteorder)
            self.descriptor.wake()

    async def read(self, limit: int = 1 << 16) -> bytes:
        """Return between one and `limit` bytes as soon as bytes are available, or b"" at the end of the pipe."""
        while not self.descriptor.closed:
            size = limit if self._rest is None else min(limit, self._rest)
            try:
                data = os.read(self.descriptor.number, size) if size else b""
            except BlockingIOError:
                await self.descriptor.ready(read=True)
                continue
            except ConnectionError:
                data = b""
            if self._rest is not None:
                self._rest -= len(data)
            if not data:
                self.descriptor.close()
            return data
        if self.descriptor.failure:
            raise SandboxError(self.descriptor.failure, where="box", next="open a new box")
        return b""


class PipeWriter:
    """A ByteWriter to a pipe of this process."""

    def __init__(self, descriptor: Descriptor) -> None:
        self.descriptor = descriptor

    async def write(self, data: bytes) -> None:
        """Write `data` to the pipe. Raises BrokenPipeError if no process reads the pipe any more."""
        view = memoryview(data)
        while view:
            if self.descriptor.failure:
                raise SandboxError(self.descriptor.failure, where="box", next="open a new box")
            if self.descriptor.closed:
                raise BrokenPipeError("no program in the box reads this input, or the input was closed")
            try:
                view = view[os.write(self.descriptor.number, view) :]
            except BlockingIOError:
                await self.descriptor.ready(read=False)
            except ConnectionError:
                self.descriptor.close()

    async def close(self) -> None:
        """Close the pipe for writing. Idempotent."""
        self.descriptor.close()


class SocketConnection:
    """A Connection over a Unix socket of this machine."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._far = end.dup()
        self.reader = PipeReader(Descriptor(end.fileno(), end.close))
        self.writer = PipeWriter(Descriptor(self._far.fileno(), self._half_close))

    def _half_close(self) -> None:
        with contextlib.suppress(OSError):  # the other end is gone
            self._far.shutdown(socket.SHUT_WR)
        self._far.close()

    async def close(self) -> None:
        """Close both directions of the connection at once. Idempotent."""
        self.abort()

    def abort(self, failure: str = "") -> None:
        """Close both directions of the connection. `failure` is the reason if the box was closed."""
        self.reader.descriptor.close(failure)
        self.writer.descriptor.close(failure)

    def is_over(self) -> bool:
        """Return whether both directions of the connection are closed."""
        return self.reader.descriptor.closed and self.writer.descriptor.closed


class SocketListener:
    """A Listener on a Unix socket of this machine."""

    def __init__(self, own: socket.socket, joined: Callable[[SocketConnection], object]) -> None:
        """The function `joined` is called with every new connection."""
        self._own, self._joined = own, joined
        self._descriptor = Descriptor(own.fileno(), own.close)

    async def accept(self) -> SocketConnection:
        """Return the next connection to the socket."""
        while not self._descriptor.closed:
            try:
                end, _ = self._own.accept()
            except BlockingIOError:
                await self._descriptor.ready(read=True)
                continue
            connection = SocketConnection(end)
            self._joined(connection)
            return connection
        raise SandboxError("the listener or the box was closed", where="box", next="listen again in an open box")

    async def close(self) -> None:
        """Accept no more connections. Accepted connections stay open. Idempotent."""
        self.abort()

    def abort(self, failure: str = "") -> None:
        """Close the listener. `failure` is the reason if the box was closed."""
        self._descriptor.close(failure)

    def is_over(self) -> bool:
        """Return whether the listener is closed."""
        return self._descriptor.closed


def open_socket(path: str, *, listen: bool) -> socket.socket:
    """Return a Unix socket that listens at `path` or is connected to the socket at `path`. Raises OSError; a
    BlockingIOError means that the caller should try again.

    The folder of `path` is opened first, because the address of a Unix socket has at most 107 bytes.
    """
    folder, _, name = path.rpartition("/")
    way = os.open(folder or "/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    done = False
    try:
        own.setblocking(False)
        if listen:
            own.bind(f"/proc/self/fd/{way}/{name}")
            own.listen(64)
        else:
            own.connect(f"/proc/self/fd/{way}/{name}")
        done = True
    finally:
        os.close(way)
        if not done:
            own.close()
    return own
