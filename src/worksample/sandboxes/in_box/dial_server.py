"""The server of sockets for dialling: a socket belongs to the network in which it was made, so the box makes it and the
platform connects it.
"""

from __future__ import annotations

import _socket
import sys

from .poller import IN

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from .poller import Poller

SOCKET_REQUEST = b"?"
"""Message that asks for one socket."""


def make_line() -> tuple[int, int]:
    """Return both ends of the line over which sockets are requested and sent: process 1's and the platform's."""
    near, far = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET | _socket.SOCK_CLOEXEC)
    return near.detach(), far.detach()


class DialServer:
    """Sends a new socket for each request."""

    def __init__(self, descriptor: int, poller: Poller) -> None:
        self._line = _socket.socket(fileno=descriptor)
        self._poller = poller
        poller.watch(descriptor, IN, self._give)

    def _give(self, events: int) -> None:
        if self._line.recv(1) != SOCKET_REQUEST:
            self._poller.unwatch(self._line.fileno())  # the platform's end is gone
            return
        try:
            fresh = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        except OSError as failure:
            self._line.send(str(failure.errno).encode())
            return
        try:
            given = fresh.fileno().to_bytes(4, sys.byteorder)
            self._line.sendmsg([b"0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, given)])
        finally:
            fresh.close()
