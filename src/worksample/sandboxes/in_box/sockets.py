"""Unix sockets of the box: connections that the platform makes to programs, and connections that programs make to the
platform.
"""

from __future__ import annotations

import _socket
import os

from . import frames
from .poller import IN
from .streams import InputStream, OutputStream, StreamChannel

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any

    from .exec_server import ExecServer


MOST = 64
"""Maximum connections of a listening socket that the platform uses at once. Further programs wait for a connection."""
BACKLOG = 64


def new_socket() -> Any:
    """Return a Unix socket. A child process binds or connects the socket with its own rights, and then this process
    uses the socket.
    """
    return _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)


def bind_or_connect(op: str, path: str) -> None:
    """Bind descriptor 0 to `path` and listen, or connect it to `path`, as `op` says. This function runs in the child
    process. Raises OSError.

    It first changes to the folder of `path`, because the address of a Unix socket has at most 107 bytes.
    """
    folder, _, name = path.rpartition("/")
    os.chdir(folder or "/")
    own = _socket.socket(fileno=0)
    if op == "listen":
        own.bind(name)
        own.listen(BACKLOG)
    else:
        own.connect(name)


def open_channel(server: ExecServer, number: int, socket: Any) -> StreamChannel:
    """Return a channel for a connection, with an input and an output stream."""
    channel = StreamChannel(number, None)
    channel.socket = socket
    server.channels[number] = channel
    OutputStream(server, channel, socket.fileno(), frames.OUT)
    InputStream(server, channel, os.dup(socket.fileno()), b"", True)
    return channel


class ListeningSocket:
    """A Unix socket in the box on which the platform listens."""

    def __init__(self, server: ExecServer, number: int, socket: Any) -> None:
        socket.setblocking(False)
        self._server, self._number, self._socket = server, number, socket
        self._held = 0
        server.poller.watch(socket.fileno(), IN, self._accept)

    def _accept(self, events: int) -> None:
        try:
            descriptor, _ = self._socket._accept()
        except OSError:  # the client is gone, or no descriptor is free
            return
        number = self._server.next_joined()
        self._server.joined[number] = self
        self._held += 1
        if self._held == MOST:
            self._server.poller.unwatch(self._socket.fileno())
        self._server.line.send(frames.JOINED, self._number, frames.NUMBER.pack(number))
        open_channel(self._server, number, _socket.socket(fileno=descriptor))

    def release_connection(self) -> None:
        """Record that the platform has closed a connection, so that the next program can connect."""
        self._held -= 1
        if self._socket.fileno() >= 0:
            self._server.poller.watch(self._socket.fileno(), IN, self._accept)

    def close(self) -> None:
        """Stop accepting connections."""
        self._server.poller.unwatch(self._socket.fileno())
        self._socket.close()
