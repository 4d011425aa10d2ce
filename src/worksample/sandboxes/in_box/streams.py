"""Streams of a command or connection. Output is read only as far as the platform grants bytes; input is written only as
far as the program takes it.
"""

# contextlib would add to the start-up time of a box.
# ruff: noqa: SIM105

from __future__ import annotations

import fcntl
import os
import sys

from . import frames
from .poller import GONE, IN, OUT

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any

    from .exec_server import ExecServer


PIECE = 1 << 16
_FIONREAD = 0x541B


class StreamChannel:
    """The streams of one exchange. A channel has ended when its command has exited and no stream is left."""

    def __init__(self, number: int, limit: int | None) -> None:
        self.number = number
        self.limited = limit is not None
        self.left = limit or 0
        self.flags = 0
        self.taps: list[OutputStream] = []
        self.feed: InputStream | None = None
        self.socket: Any = None
        """Socket of a connection or listener. The socket stays open until both of its streams have ended."""

    def is_over(self) -> bool:
        """Return whether all streams of the channel have ended."""
        return not self.taps and self.feed is None

    def drop(self) -> None:
        """Close every open stream of the channel and report the ends of the streams to the platform."""
        for tap in list(self.taps):
            tap.finish()
        if self.feed:
            self.feed.close()
        if self.socket:
            self.socket.close()


class OutputStream:
    """A stream of bytes from a program in the box to the platform."""

    def __init__(self, server: ExecServer, channel: StreamChannel, descriptor: int, kind: int) -> None:
        os.set_blocking(descriptor, False)
        self._server, self._channel, self._descriptor, self.kind = server, channel, descriptor, kind
        self._granted = frames.WINDOW
        self._rest: int | None = None
        """Number of bytes that are still read after the exit of the command; None while the command runs."""
        channel.taps.append(self)
        self.update()

    def update(self) -> None:
        """Watch the descriptor only while the platform allows more of its bytes to be sent."""
        if not self._server.line.paused and (self._channel.limited or self._granted):
            self._server.poller.watch(self._descriptor, IN, self._read_piece)
        else:
            self._server.poller.unwatch(self._descriptor)

    def grant(self, more: int) -> None:
        """Allow `more` further bytes to be sent, because the platform has read this many."""
        self._granted += more
        self.update()

    def _read_piece(self, events: int = 0) -> bool:
        """Read and send one piece of output. Return False if no piece is available at the moment or the stream has
        ended.
        """
        size = PIECE if self._channel.limited else min(PIECE, self._granted)
        if self._rest is not None:
            size = min(size, self._rest)
        try:
            data = os.read(self._descriptor, size)
        except BlockingIOError:
            return False
        except OSError:  # the other end of a connection is gone with its unread bytes
            data = b""
        if self._rest is not None:
            self._rest -= len(data)
        self._send(data)
        if not data or self._rest == 0:
            self.finish(not data or self._is_deserted())
            return False
        return True

    def _is_deserted(self) -> bool:
        """Return whether no process can write to the stream any more. Output that background processes have written
        since the command's exit is dropped.
        """
        try:
            return not os.read(self._descriptor, PIECE)
        except BlockingIOError:
            return False

    def _send(self, data: bytes) -> None:
        channel = self._channel
        if channel.limited:
            if len(data) > channel.left:
                channel.flags |= frames.TRUNCATED
            data = data[: channel.left]
            channel.left -= len(data)
        elif data:
            self._granted -= len(data)
            if not self._granted:
                self.update()
        if data:
            self._server.line.send(self.kind, channel.number, data)

    def end(self) -> None:
        """Handle the exit of the command. Output that the command printed before is still sent, at once if the output
        has a limit.
        """
        waiting = bytearray(4)
        fcntl.ioctl(self._descriptor, _FIONREAD, waiting)
        self._rest = int.from_bytes(waiting, sys.byteorder)
        if not self._rest:
            self.finish(self._is_deserted())
        elif self._channel.limited:
            while self._read_piece():
                pass

    def finish(self, closed: bool = True) -> None:
        """End the stream and report its end to the platform."""
        if not self._channel.limited:
            self._server.line.send(self.kind, self._channel.number)
        self.close(closed)

    def close(self, closed: bool = True) -> None:
        """Stop reading the descriptor. If the pipe is not `closed`, output that background processes still print into
        it is read and dropped.
        """
        if self not in self._channel.taps:
            return
        self._channel.taps.remove(self)
        self._server.poller.unwatch(self._descriptor)
        if self._channel.socket is None:
            if closed:
                os.close(self._descriptor)
            else:
                self._server.strays.take(self._descriptor)
        self._server.settle(self._channel)


class InputStream:
    """A stream of bytes from the platform to a program in the box. The stream takes one piece at a time and then
    requests the next.
    """

    def __init__(self, server: ExecServer, channel: StreamChannel, descriptor: int, data: bytes, more: bool) -> None:
        os.set_blocking(descriptor, False)
        self._server, self._channel, self._descriptor = server, channel, descriptor
        self._data, self._more, self._asked = memoryview(data), more, False
        channel.feed = self
        self._pump()

    def give(self, piece: bytes) -> None:
        """Take the next piece of input. An empty piece marks the end."""
        if piece:
            self._data, self._asked = memoryview(piece), False
        else:
            self._more = False
        self._pump()

    def _pump(self, events: int = 0) -> None:
        if events & GONE and not self._data:
            self._report_closed()
            return
        while self._data:
            try:
                self._data = self._data[os.write(self._descriptor, self._data) :]
            except BlockingIOError:
                self._server.poller.watch(self._descriptor, OUT, self._pump)
                return
            except OSError:
                self._report_closed()
                return
        if not self._more:
            self.close()
        else:
            self._server.poller.watch(self._descriptor, 0, self._pump)
            if not self._asked:
                self._asked = True
                self._server.line.send(frames.WANT, self._channel.number)

    def _report_closed(self) -> None:
        self._server.line.send(frames.DEAF, self._channel.number)
        self.close()

    def close(self) -> None:
        """Close the input of the program."""
        self._channel.feed = None
        self._server.poller.unwatch(self._descriptor)
        os.close(self._descriptor)
        if self._channel.socket is not None:
            try:
                self._channel.socket.shutdown(1)  # SHUT_WR: the other direction goes on
            except OSError:
                pass
        self._server.settle(self._channel)


class Strays:
    """Pipes into which background processes may still print. The pipes stay open, so that these processes do not die of
    SIGPIPE.
    """

    MOST = 64

    def __init__(self, server: ExecServer) -> None:
        self._server = server
        self._held: list[int] = []

    def take(self, descriptor: int) -> None:
        """Keep a pipe open, and read and drop its content. If there are too many pipes, close the oldest."""
        self._held.append(descriptor)
        self._server.poller.watch(descriptor, IN, lambda events: self._drain(descriptor))
        while len(self._held) > self.MOST:
            self._close(self._held[0])

    def _drain(self, descriptor: int) -> None:
        try:
            if os.read(descriptor, PIECE):
                return
        except BlockingIOError:
            return
        self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._held.remove(descriptor)
        self._server.poller.unwatch(descriptor)
        os.close(descriptor)
