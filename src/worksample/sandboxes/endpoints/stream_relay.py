"""A relay of bytes between two sockets. In each direction, bytes are read only as fast as the other socket accepts
them.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import cast

from .connection_ledger import ConnectionRecord

HIGH = 1 << 18
"""Maximum bytes that wait for a slow reader. Above this number, the relay stops reading from the writer."""
_RESET = struct.pack("ii", 1, 0)


class _RelaySide(asyncio.BufferedProtocol):
    """End of a relay, which has two. Bytes that one end reads are written by the other end. Each direction can end
    while the other stays open.
    """

    def __init__(self, contact: ConnectionRecord, outward: bool) -> None:
        self.other: _RelaySide | None = None
        self.transport: asyncio.Transport | None = None
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._contact, self._outward = contact, outward
        self._buffer = memoryview(bytearray(1 << 16))
        self._early = bytearray()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(HIGH)
        if self.other is None or self.other.transport is None:
            self.transport.pause_reading()  # until the other side is connected, bytes wait in the kernel
        else:
            self._follow(self.other, self.other.transport)

    def _follow(self, first: _RelaySide, transport: asyncio.Transport) -> None:
        """Start to relay from the end `first`, which was connected earlier: write the bytes that `first` has already
        received, and pass on the end of its stream. This is needed because Python 3.11.2 ignores a request to pause
        reading that is made when a connection begins.
        """
        assert self.transport is not None
        if first._early:
            self.transport.write(bytes(first._early))
            first._early.clear()
        if transport.is_closing():
            self.transport.close()
        elif first._ended:
            self.transport.write_eof()
        else:
            transport.resume_reading()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._outward:
            self._contact.sent += nbytes
        else:
            self._contact.received += nbytes
        other = self._peer()
        if other is None:
            self._early += self._buffer[:nbytes]
        elif not other.is_closing():
            other.write(bytes(self._buffer[:nbytes]))

    def eof_received(self) -> bool:
        self._ended = True
        other = self._peer()
        if other is not None and not other.is_closing() and other.can_write_eof():
            other.write_eof()
        if self.other is not None and self.other._ended and self.transport is not None:
            self.transport.close()
            if other is not None:
                other.close()
        return True

    def pause_writing(self) -> None:
        other = self._peer()
        if other is not None and not other.is_closing():
            other.pause_reading()

    def resume_writing(self) -> None:
        other = self._peer()
        if other is not None and not other.is_closing():
            other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and not self._contact.failed:
            side = "the program in the box" if self._outward else "the other end"
            self._contact.failed = f"{side} broke off: {exc}"
        other = self._peer()
        if other is not None:
            if exc is None:
                other.close()
            else:
                other.abort()
        if not self.over.done():
            self.over.set_result(None)

    def _peer(self) -> asyncio.Transport | None:
        return self.other.transport if self.other else None


async def relay(inside: socket.socket, outside: socket.socket, contact: ConnectionRecord) -> None:
    """Relay bytes between a program in a box and its peer until both directions have ended. Then close both sockets."""
    loop = asyncio.get_running_loop()
    near, far = _RelaySide(contact, True), _RelaySide(contact, False)
    near.other, far.other = far, near
    for end in (inside, outside):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) if end.family != socket.AF_UNIX else None
    try:
        await loop.connect_accepted_socket(lambda: far, outside)
        await loop.connect_accepted_socket(lambda: near, inside)
        await near.over
        await far.over
    finally:
        for side, end in ((near, inside), (far, outside)):
            if side.transport is not None:
                side.transport.abort()
            else:
                end.close()


def reset(connection: socket.socket) -> None:
    """Close a socket with a TCP reset, so that the other end gets an error at once instead of the end of the stream."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    except OSError:
        pass
    finally:
        connection.close()
