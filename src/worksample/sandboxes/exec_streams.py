"""The host's side of an exchange with an exec server: the streams out of the box and into the box, identified by one
number.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable

from worksample.errors import SandboxError

from .in_box import frames

Send = Callable[[int, bytes], None]
"""Type of a function that sends a frame of one exchange. Its arguments are the frame's kind and payload."""


class Incoming:
    """A Reader of the bytes that the box sends. The number of unread bytes never exceeds the number that the host has
    granted to the box.
    """

    def __init__(self, send: Send, kind: int, limit: int | None) -> None:
        """`limit` is the maximum bytes of an output that is collected as a whole. For a stream, `limit` is None, and
        the host grants more bytes to the box whenever the stream is read.
        """
        self.data = bytearray()
        self._send, self._kind = send, kind
        self._room = frames.WINDOW if limit is None else limit
        self._stream, self._read = limit is None, 0
        self.ended, self._failure = False, ""
        self._waiter: asyncio.Future[None] | None = None

    def feed(self, data: bytes) -> bool:
        """Add received bytes to the stream. Return False if the box sent more bytes than the host had granted."""
        self._room -= len(data)
        self.data += data
        self._wake()
        return self._room >= 0

    def finish(self, failure: str = "") -> None:
        """End the stream. `failure` is the reason if the stream ends because the box was lost."""
        if not self.ended:
            self.ended, self._failure = True, failure
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self, limit: int = 1 << 16) -> bytes:
        """Return between one and `limit` bytes as soon as bytes are available, or b"" at the end of the stream."""
        while not self.data and not self.ended:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if not self.data and self._failure:
            raise SandboxError(self._failure, where="box", next="worksample doctor")
        taken = bytes(self.data[:limit])
        del self.data[:limit]
        self._read += len(taken)
        if self._stream and not self.ended and self._read >= frames.WINDOW // 4:
            self._send(frames.MORE, frames.GRANT.pack(self._kind, self._read))
            self._room += self._read
            self._read = 0
        return taken


class Outgoing:
    """A ByteWriter to the box. It sends one piece at a time, and sends the next piece when the box requests it."""

    def __init__(self, send: Send, data: bytes | None) -> None:
        """`data` is the whole input, whose first piece is sent with the request, or None if the input is written
        later.
        """
        self._send = send
        self._rest = memoryview(data or b"")[frames.CHUNK :]
        self._closed, self._deaf, self._failure = data is not None, False, ""
        self._wanted = asyncio.Event()

    def send_next(self) -> None:
        """Send the next piece. The exec server requests it after the command has taken all earlier bytes."""
        if self._rest:
            piece, self._rest = self._rest[: frames.CHUNK], self._rest[frames.CHUNK :]
            self._send(frames.INPUT, bytes(piece))
        elif self._closed:
            self._send(frames.INPUT, b"")
        else:
            self._wanted.set()

    def end_reading(self, failure: str = "") -> None:
        """Record that no program in the box reads the stream any more. `failure` is the reason if the box was lost."""
        if not self._deaf:
            self._deaf, self._failure = True, failure
            self._wanted.set()

    async def write(self, data: bytes) -> None:
        """Send `data` to the box and return when the reader can take more. Raises BrokenPipeError if no program reads
        the stream any more.
        """
        view = memoryview(data)
        while view:
            if self._closed:
                raise BrokenPipeError("the command's input was already closed")
            await self._wanted.wait()
            if self._failure:
                raise SandboxError(self._failure, where="box", next="worksample doctor")
            if self._deaf or self._closed:
                raise BrokenPipeError("no program in the box reads this input")
            self._wanted.clear()
            self._send(frames.INPUT, bytes(view[: frames.CHUNK]))
            view = view[frames.CHUNK :]

    async def close(self) -> None:
        """End the stream to the box. Idempotent."""
        if not self._closed:
            self._closed = True
            self._wanted.set()
            if not self._deaf:
                self._send(frames.INPUT, b"")


class BoxExchange:
    """A command, a connection or a listening socket in a box. The host and the exec server identify the exchange by the
    same number.
    """

    def __init__(self, number: int, send: Send, limit: int | None, data: bytes | None) -> None:
        self.number, self.send = number, send
        self.out, self.err = Incoming(send, frames.OUT, limit), Incoming(send, frames.ERR, limit)
        self.input = Outgoing(send, data)
        self.name = ""
        """Name of the program, for error messages."""
        self.lasting = False
        """Whether the exchange continues as a connection after its command has exited."""
        self._err_over = False
        self.joined: asyncio.Queue[BoxExchange | None] = asyncio.Queue()
        """New connections to a listening socket; None marks the end. The exec server limits the number of
        connections.
        """
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done.add_done_callback(
            lambda future: future.cancelled() or future.exception()
        )  # the result may never be awaited
        self.returncode, self.flags, self.seconds, self.counted, self.errno = 0, 0, 0.0, 0.0, 0

    def take(self, kind: int, payload: bytes) -> bool:
        """Handle a frame of this exchange. Return False if the frame violates the protocol."""
        if kind in (frames.OUT, frames.ERR):
            if payload:
                return (self.out if kind == frames.OUT else self.err).feed(payload)
            if kind == frames.OUT:
                self.out.finish()
            else:
                self._err_over = True
                self._finish_err()
        elif kind == frames.WANT:
            self.input.send_next()
        elif kind == frames.DEAF:
            self.input.end_reading()
        elif kind == frames.ENDED:
            self.returncode, self.flags, self.seconds, self.counted = frames.DONE.unpack(payload)
            self._settle(self.lasting)
        elif kind == frames.FAILED:
            number, _, where = payload.partition(b" ")
            self.errno = int(number)
            self.returncode = 127 if self.errno == errno.ENOENT else 126
            self.err.data += f"{where.decode(errors='replace') or self.name}: {os.strerror(self.errno)}\n".encode()
            self.out.finish()
            self._err_over = True
            self._settle(False)
        return True

    def is_over(self) -> bool:
        """Return whether no more frames can arrive for this exchange. Used for a command whose output is a stream."""
        return self.done.done() and not self.lasting and self.out.ended and self.err.ended

    def _settle(self, lasting: bool) -> None:
        if not lasting:
            self.input.end_reading()
        if not self.done.done():
            self.done.set_result(None)
        self._finish_err()

    def _finish_err(self) -> None:
        """End the stderr stream after both the end of stderr and the end of the command have been reported. The two
        reports come in either order. If a command could not be started, the reason is appended to stderr after the
        command's end.
        """
        if self._err_over and self.done.done():
            self.err.finish()

    def fail(self, why: str) -> None:
        """End the exchange with the error `why`, because the box is lost."""
        if not self.done.done():
            self.done.set_exception(SandboxError(why, where="box", next="worksample doctor"))
        self.out.finish(why)
        self.err.finish(why)
        self.input.end_reading(why)
        self.joined.put_nowait(None)
