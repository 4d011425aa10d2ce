"""The client of an exec server: sends whole frames, receives frames, and runs many exchanges at once."""

from __future__ import annotations

import asyncio
import functools
import marshal
import os
import socket
from collections.abc import Callable
from typing import Any, cast

from worksample.box import ProcessEnd
from worksample.errors import SandboxError
from worksample.sandboxes.exec_streams import BoxExchange, Incoming, Outgoing

from .in_box import frames

MAX_FRAME = 1 << 20
"""Maximum bytes of a frame that an exec server sends."""


class ExecConnection(asyncio.Protocol):
    """A connection to an exec server. If the exec server is gone, every exchange raises SandboxError.

    A frame is given to the transport as a whole and in one step, so a cancelled caller cannot leave half a frame.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._exchanges: dict[int, BoxExchange] = {}
        self._number = 0
        self._lost: str | None = None
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self.memory_kills = 0
        """How many processes of the box the watchdog has killed for using too much memory."""

    async def handshake(self, plan: dict[str, Any], wait: float) -> list[int]:
        """Send the exec server's plan and wait at most `wait` seconds until the box has started. Raises SandboxError if
        the box does not start in time.

        Return these descriptors: the root of the box, its output folder, the connection to the dial server, the folder
        with the changes of an image, and the sockets of the endpoints.
        """
        loop = asyncio.get_running_loop()
        wanted = 3 + bool(plan["image"]) + len(plan["endpoints"])
        self._socket.setblocking(False)
        await loop.sock_sendall(self._socket, frames.pack(frames.START, 0, marshal.dumps(plan)))
        ready = loop.create_future()

        def ready_now() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._socket, ready_now)
        try:
            async with asyncio.timeout(wait):
                await ready
        except TimeoutError:
            raise SandboxError(
                f"the box did not answer within {wait:.0f} s", where="box", next="worksample doctor"
            ) from None
        finally:
            loop.remove_reader(self._socket)
        try:
            data, descriptors, _, _ = socket.recv_fds(self._socket, 1, wanted)
        except ConnectionError:
            data, descriptors = b"", []
        if not data or len(descriptors) != wanted:
            for descriptor in descriptors:
                os.close(descriptor)
            raise SandboxError("the box did not start", where="box", next="worksample doctor")
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        try:
            await loop.create_unix_connection(lambda: self, sock=self._socket)
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        return list(descriptors)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass

    def connection_lost(self, exc: Exception | None) -> None:
        self.fail(str(exc) if exc else "its exec server is gone")

    def data_received(self, data: bytes) -> None:
        self._received += data
        start = 0
        while len(self._received) - start >= frames.HEAD.size:
            length, kind, number = frames.HEAD.unpack_from(self._received, start)
            if length > MAX_FRAME:
                return self.fail("its exec server broke the protocol")
            end = start + frames.HEAD.size + length
            if len(self._received) < end:
                break
            self._take(kind, number, bytes(self._received[start + frames.HEAD.size : end]))
            start = end
        del self._received[:start]
        return None

    def _take(self, kind: int, number: int, payload: bytes) -> None:
        if kind == frames.OVER:
            self.memory_kills += 1
        exchange = self._exchanges.get(number)
        if exchange is None:
            if kind == frames.JOINED:  # the listening socket was closed
                self.send(_number(payload), frames.KILL)
            return
        if kind == frames.JOINED:
            exchange.joined.put_nowait(self._open(_number(payload), None, None))
        elif not exchange.take(kind, payload):
            self.fail("its exec server sent more than it was asked for")
        elif exchange.is_over():
            del self._exchanges[number]

    # exchanges

    def send(self, number: int, kind: int, payload: bytes = b"") -> None:
        """Send a frame of the exchange `number`. Frames are sent whole and in the order of the calls."""
        if self._transport is not None and self._lost is None:
            self._transport.write(frames.pack(kind, number, payload))

    def _open(self, number: int, limit: int | None, data: bytes | None) -> BoxExchange:
        send: Callable[[int, bytes], None] = functools.partial(self.send, number)
        exchange = BoxExchange(number, send, limit, data)
        self._exchanges[number] = exchange
        return exchange

    def begin(self, body: dict[str, Any] | None, data: bytes | None = b"", kind: int = frames.START) -> BoxExchange:
        """Send a request and return its exchange without waiting. `data` is the request's input, or None if the caller
        writes the input later. Raises SandboxError if the box is lost.
        """
        if self._lost is not None:
            raise SandboxError(f"the box was lost: {self._lost}", where="box", next="worksample doctor")
        self._number += 1
        exchange = self._open(self._number, body["limit"] if body else 0, data)
        if body is not None:
            given = data or b""
            body |= {"input": given[: frames.CHUNK], "more": data is None or len(given) > frames.CHUNK}
        self.send(exchange.number, kind, b"" if body is None else marshal.dumps(body))
        return exchange

    async def request(self, body: dict[str, Any] | None, data: bytes = b"", kind: int = frames.START) -> BoxExchange:
        """Send a request and wait until its exchange has ended. If the wait is cancelled, the command is killed. Raises
        SandboxError if the box is lost.
        """
        return await self.finish(self.begin(body, data, kind))

    async def signal_all(self, kind: int) -> None:
        """Stop, continue or kill all processes of the box, and wait until that is done."""
        await self.request(None, kind=kind)

    async def finish(self, exchange: BoxExchange) -> BoxExchange:
        """Wait until an exchange has ended, as `request` does, and forget the exchange."""
        ended = False
        try:
            await exchange.done
            ended = True
        finally:
            if not ended:
                self.send(exchange.number, frames.KILL)
            self._exchanges.pop(exchange.number, None)
        return exchange

    def release(self, exchange: BoxExchange) -> None:
        """End an exchange in the box and drop the frames of the exchange that still arrive."""
        if self._exchanges.pop(exchange.number, None):
            self.send(exchange.number, frames.KILL)

    def fail(self, why: str) -> None:
        """Let every exchange fail with SandboxError, because the box is lost. `why` is the reason."""
        if self._lost is None:
            self._lost = why
            if self._transport is not None:
                self._transport.abort()
        for exchange in list(self._exchanges.values()):
            exchange.fail(f"the box was lost: {self._lost}")

    async def close(self) -> None:
        """Close the host's end of the connection. The exec server then exits, and the box ends with it."""
        self.fail("it was closed")
        self._socket.close()


def _number(payload: bytes) -> int:
    (number,) = frames.NUMBER.unpack(payload)
    return int(number)


class RemoteProcess:
    """A running command of a box, controlled over the exec server."""

    def __init__(self, exchange: BoxExchange, kills: Callable[[], int]) -> None:
        """`kills` returns how many processes of the box have been killed so far for lack of memory."""
        self.stdin: Outgoing = exchange.input
        self.stdout: Incoming = exchange.out
        self.stderr: Incoming = exchange.err
        self._exchange, self._kills, self._before = exchange, kills, kills()

    async def wait(self) -> ProcessEnd:
        """Wait until the command has exited. Its output may still have to be read."""
        exchange = self._exchange
        await asyncio.shield(exchange.done)
        timed_out, starved = bool(exchange.flags & frames.TIMED_OUT), bool(exchange.flags & frames.STARVED)
        oom = self._kills() > self._before
        return ProcessEnd(exchange.returncode, timed_out, oom, exchange.seconds, starved, exchange.counted)

    async def kill(self) -> None:
        """Kill the command and all processes that it started."""
        self._exchange.send(frames.KILL, b"")


class RemoteConnection:
    """A connection to a Unix socket of a box, carried by the exec server."""

    def __init__(self, link: ExecConnection, exchange: BoxExchange) -> None:
        self.reader: Incoming = exchange.out
        self.writer: Outgoing = exchange.input
        self._link, self._exchange = link, exchange

    async def close(self) -> None:
        """Close both directions of the connection at once. Idempotent."""
        self._link.release(self._exchange)
        self.reader.finish()
        self.writer.end_reading()


class RemoteListener:
    """A Unix socket on which the host listens inside a box, carried by the exec server."""

    def __init__(self, link: ExecConnection, exchange: BoxExchange) -> None:
        self._link, self._exchange = link, exchange

    async def accept(self) -> RemoteConnection:
        """Return the next connection that a program in the box makes to the socket."""
        found = await self._exchange.joined.get()
        if found is None:
            self._exchange.joined.put_nowait(None)
            raise SandboxError("the listener or the box was closed", where="box", next="listen again in an open box")
        return RemoteConnection(self._link, found)

    async def close(self) -> None:
        """Accept no more connections. Accepted connections stay open. Idempotent."""
        self._link.release(self._exchange)
        while not self._exchange.joined.empty():
            found = self._exchange.joined.get_nowait()
            if found is not None:
                self._link.release(found)
        self._exchange.joined.put_nowait(None)
