"""The platform's end of the line to an exec server: requests out, output and results in, many at once."""

from __future__ import annotations

import asyncio
import marshal
import os
import socket
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import SandboxError
from worksample.sandboxes.inside import frames

MAX_FRAME = 1 << 20
"""Bytes of the largest frame that an exec server sends."""


@dataclass(slots=True)
class Reply:
    """What a request has brought so far."""

    done: asyncio.Future[None]
    rest: memoryview
    limit: int = 0
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    returncode: int = 0
    flags: int = 0
    seconds: float = 0.0
    errno: int = 0
    where: str = ""
    """The working folder, when it was that which could not be entered."""


class Link:
    """One connection. `lost` is set when the other side is gone; every request then raises SandboxError."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._replies: dict[int, Reply] = {}
        self._number = 0
        self._lost: str | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()
        self.overs = 0
        """How often the watchdog ended a process for memory."""

    async def handshake(self, plan: dict[str, Any], wait: float) -> tuple[int, int]:
        """Send the plan; return descriptors of the box's root and of its output folder. `wait` in seconds."""
        loop = asyncio.get_running_loop()
        self._socket.setblocking(False)
        await loop.sock_sendall(self._socket, frames.pack(frames.START, 0, marshal.dumps(plan)))
        ready = loop.create_future()

        def ready_now() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._socket, ready_now)
        try:
            await asyncio.wait_for(ready, wait)
        except TimeoutError:
            raise SandboxError(f"the box did not answer within {wait:.0f} s", where="box") from None
        finally:
            loop.remove_reader(self._socket)
        try:
            data, descriptors, _, _ = socket.recv_fds(self._socket, 1, 2)
        except ConnectionError:
            data, descriptors = b"", []
        if not data or len(descriptors) != 2:
            raise SandboxError("the box did not start", where="box")
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        self._watcher = loop.create_task(self._listen())
        return descriptors[0], descriptors[1]

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        received = bytearray()
        while True:
            try:
                data = await loop.sock_recv(self._socket, 1 << 20)
            except OSError as failure:
                return self.lose(str(failure))
            if not data:
                return self.lose("its exec server is gone")
            received += data
            start = 0
            while len(received) - start >= frames.HEAD.size:
                length, kind, number = frames.HEAD.unpack_from(received, start)
                if length > MAX_FRAME:
                    return self.lose("its exec server broke the protocol")
                end = start + frames.HEAD.size + length
                if len(received) < end:
                    break
                await self._take(kind, number, bytes(received[start + frames.HEAD.size : end]))
                start = end
            del received[:start]

    async def _take(self, kind: int, number: int, payload: bytes) -> None:
        if kind == frames.OVER:
            self.overs += 1
        reply = self._replies.get(number)
        if reply is None or reply.done.done():
            return
        if kind in (frames.OUT, frames.ERR):
            if len(reply.out) + len(reply.err) + len(payload) > reply.limit:
                return self.lose("its exec server sent more than it was asked for")
            (reply.out if kind == frames.OUT else reply.err).extend(payload)
        elif kind == frames.WANT:
            piece, reply.rest = reply.rest[: frames.CHUNK], reply.rest[frames.CHUNK :]
            await self._send(frames.INPUT, number, bytes(piece))
        elif kind == frames.ENDED:
            reply.returncode, reply.flags, reply.seconds = frames.DONE.unpack(payload)
            reply.done.set_result(None)
        elif kind == frames.FAILED:
            number_text, _, where = payload.partition(b" ")
            reply.errno, reply.where = int(number_text), where.decode(errors="replace")
            reply.done.set_result(None)

    async def _send(self, kind: int, number: int, payload: bytes = b"") -> None:
        async with self._sending:
            try:
                await asyncio.get_running_loop().sock_sendall(self._socket, frames.pack(kind, number, payload))
            except OSError as failure:
                self.lose(str(failure))

    async def request(self, kind: int, body: dict[str, Any] | None = None, data: bytes = b"") -> Reply:
        """Send a request and wait for its end; a cancelled wait kills the command. Raises SandboxError when lost."""
        if self._lost is not None:
            raise SandboxError(f"the box was lost: {self._lost}", where="box")
        self._number += 1
        number = self._number
        reply = Reply(asyncio.get_running_loop().create_future(), memoryview(data)[frames.CHUNK :])
        reply.limit = body["limit"] if body else 0
        self._replies[number] = reply
        if body is not None:
            body |= {"input": data[: frames.CHUNK], "more": len(data) > frames.CHUNK}
        try:
            await self._send(kind, number, marshal.dumps(body) if body is not None else b"")
            await reply.done
        except asyncio.CancelledError:
            if self._lost is None:
                await asyncio.shield(self._send(frames.KILL, number))
            raise
        finally:
            del self._replies[number]
        return reply

    def lose(self, why: str) -> None:
        """Give up: every waiting request fails with SandboxError."""
        if self._lost is None:
            self._lost = why
        for reply in self._replies.values():
            if not reply.done.done():
                reply.done.set_exception(SandboxError(f"the box was lost: {self._lost}", where="box"))

    async def close(self) -> None:
        """Close our end, which ends the exec server and with it the box."""
        self.lose("it was closed")
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.gather(self._watcher, return_exceptions=True)
        self._socket.close()
