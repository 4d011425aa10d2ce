"""The dial server of a box: creates sockets that the platform connects. A socket belongs to the network namespace in
which it was created, so the box must create it.
"""

from __future__ import annotations

import _socket
import sys

from .poller import IN

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from .poller import Poller

SOCKET_REQUEST = b"?"
"""Message with which the platform requests one socket from the dial server."""


def make_line() -> tuple[int, int]:
    """Return both ends of the connection over which sockets are requested and sent: first the end of process 1, then
    the platform's end.
    """
    near, far = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET | _socket.SOCK_CLOEXEC)
    return near.detach(), far.detach()


class DialServer:
    """A server that sends a new socket to the platform for each request."""

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
