"""The exec server's end of the connection to the platform. It sends and receives whole frames and limits the unsent
bytes.
"""

from __future__ import annotations

from . import frames
from .poller import IN, OUT, Poller

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


MAX_PENDING = 4 << 20
"""Maximum unsent bytes. Above this number, the exec server stops reading the output of commands."""


class BoxLine:
    """The connection to the platform. Frames wait until the end of a turn of the event loop, so that related frames are
    sent with one system call.
    """

    def __init__(self, socket: Any, poller: Poller, full: Callable[[bool], object]) -> None:
        """The function `full` is called with True when there are too many unsent bytes, and with False when enough of
        them have been sent.
        """
        socket.setblocking(False)
        self.socket, self.open, self.paused = socket, True, False
        self._poller, self._full = poller, full
        self._received, self._pending = bytearray(), bytearray()
        self._ready = False
        poller.watch(socket.fileno(), IN, self._on_event)

    def send(self, kind: int, number: int, payload: bytes = b"") -> None:
        """Send a frame at the end of the current turn of the event loop."""
        self._pending += frames.pack(kind, number, payload)

    def flush(self) -> None:
        """Send as many of the waiting bytes as the socket takes now."""
        while self._pending:
            try:
                sent = self.socket.send(self._pending)
            except BlockingIOError:
                break
            except ConnectionError:
                self.open = False
                return
            del self._pending[:sent]
        self._poller.watch(self.socket.fileno(), IN | OUT if self._pending else IN, self._on_event)
        full = len(self._pending) > MAX_PENDING
        if full != self.paused:
            self.paused = full
            self._full(full)

    def _on_event(self, events: int) -> None:
        if events & ~OUT:
            self._ready = True

    def read_frames(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the kind, number and payload of every frame that has been received completely."""
        if not self._ready:
            return
        self._ready = False
        try:
            data = self.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self.open = False
            return
        self._received += data
        start = 0
        while len(self._received) - start >= frames.HEAD.size:
            length, kind, number = frames.HEAD.unpack_from(self._received, start)
            end = start + frames.HEAD.size + length
            if len(self._received) < end:
                break
            yield kind, number, bytes(self._received[start + frames.HEAD.size : end])
            start = end
        del self._received[:start]
