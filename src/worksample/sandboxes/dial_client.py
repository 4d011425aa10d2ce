"""The client of a box's dial server. The client requests sockets of the box's network from process 1 of the box, and
the platform connects these sockets.
"""

from __future__ import annotations

import asyncio
import os
import socket

from worksample.errors import SandboxError

from .in_box.dial_server import SOCKET_REQUEST


class DialClient:
    """Client of the dial server of one box. The sockets that the client returns are not connected yet."""

    def __init__(self, descriptor: int) -> None:
        self._line = socket.socket(fileno=descriptor)
        self._line.setblocking(False)
        self._turn = asyncio.Lock()
        self._owed = False
        """Whether a caller was cancelled after its request. The socket that the dial server still sends then serves the
        next caller.
        """

    async def new_socket(self) -> socket.socket:
        """Return a new socket of the box's network. Raises OSError if the box has no file descriptor left; SandboxError
        if the box is lost.
        """
        loop = asyncio.get_running_loop()
        async with self._turn:
            try:
                if not self._owed:
                    await loop.sock_sendall(self._line, SOCKET_REQUEST)
                    self._owed = True
                await self._readable()
                said, found, _, _ = socket.recv_fds(self._line, 8, 1)
            except (ConnectionError, BrokenPipeError):
                said, found = b"", []
            self._owed = False
        if found:
            os.set_inheritable(found[0], False)
            return socket.socket(fileno=found[0])
        if said:
            raise OSError(int(said), os.strerror(int(said)))
        raise SandboxError(
            "the box was lost: the server in it that runs commands has ended", where="box", next="worksample doctor"
        )

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def now() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._line, now)
        try:
            await ready
        finally:
            loop.remove_reader(self._line)

    def close(self) -> None:
        """Close the connection to the dial server."""
        self._line.close()


async def connect_socket(own: socket.socket, address: str, port: int) -> socket.socket:
    """Connect the socket `own` to an address and return it. If connecting fails, close the socket and raise OSError."""
    own.setblocking(False)
    done = False
    try:
        await asyncio.get_running_loop().sock_connect(own, (address, port))
        done = True
    finally:
        if not done:
            own.close()
    return own
