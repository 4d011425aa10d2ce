"""The exec server: process 1 of a box. It starts and kills commands, carries their streams, and reaps orphaned
processes.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal without its enums
import _socket
import marshal
import os
import sys
import time

from . import frames
from .boot import boot
from .box_line import BoxLine
from .child_process import Starter
from .dial_server import DialServer
from .poller import IN, Poller
from .processes import Watchdog, kill_all, kill_tree, signal_all
from .processor_clock import LONGEST, ProcessorClock
from .sockets import ListeningSocket, new_socket, open_channel
from .streams import PIECE, InputStream, OutputStream, Strays, StreamChannel

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any


class Command(StreamChannel):
    """A running command with its start time and time limits."""

    def __init__(self, number: int, request: dict[str, Any], pid: int, trouble: int) -> None:
        self.pid, self.trouble, self.op = pid, trouble, request["op"]
        super().__init__(number, 0 if self.op in ("connect", "listen") else request["limit"])
        self.started = time.monotonic()
        self.deadline = self.started + request["timeout"] if request["timeout"] is not None else None
        fair = request.get("fair")
        self.clock = ProcessorClock(pid, *fair) if fair else None
        self.reached: Any = None
        """The socket that the command's child process connects or binds."""


class ExecServer:
    """The event loop of the exec server, with the commands, channels and sockets that it watches."""

    def __init__(self, socket: Any, plan: dict[str, Any]) -> None:
        self.starter = Starter(plan)
        self.watchdog = Watchdog(plan) if plan["watch"] else None
        self.poller = Poller()
        self.line = BoxLine(socket, self.poller, self._update_outputs)
        self.strays = Strays(self)
        self.channels: dict[int, StreamChannel] = {}
        self.running: dict[int, Command] = {}
        """Process id -> running command."""
        self.listening: dict[int, ListeningSocket] = {}
        self.joined: dict[int, ListeningSocket] = {}
        """Number of a connection that the platform still uses -> the listening socket that accepted the connection."""
        self._last_joined = frames.JOINED_FROM
        wake, wake_far = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wake_far, False)
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # the kernel drops signals that process 1 does not handle
        _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
        _signal.set_wakeup_fd(wake_far, warn_on_full_buffer=False)
        self.poller.watch(wake, IN, lambda events: os.read(wake, PIECE))
        DialServer(plan["dial"], self.poller)

    def run(self) -> None:
        """Serve until the connection to the platform ends. When process 1 then exits, the kernel kills every process of
        the box.
        """
        while self.line.open:
            self.poller.turn(self._patience())
            for kind, number, payload in self.line.read_frames():
                self._obey(kind, number, payload)
            self._reap()
            self._expire()
            self.line.flush()

    def next_joined(self) -> int:
        """Return a new number for a connection that a program in the box makes."""
        self._last_joined += 1
        return self._last_joined

    def settle(self, channel: StreamChannel) -> None:
        """Forget a channel if it has ended."""
        if channel.is_over() and not (isinstance(channel, Command) and channel.pid in self.running):
            self.channels.pop(channel.number, None)
            if channel.socket:
                channel.socket.close()

    def _patience(self) -> float | None:
        ends = [command.deadline for command in self.running.values() if command.deadline is not None]
        ends += [command.clock.due for command in self.running.values() if command.clock is not None]
        if self.watchdog:
            ends.append(self.watchdog.due)
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _update_outputs(self, full: bool) -> None:
        for channel in self.channels.values():
            for tap in channel.taps:
                tap.update()

    def _obey(self, kind: int, number: int, payload: bytes) -> None:
        channel = self.channels.get(number)
        if kind == frames.START:
            self._start(number, marshal.loads(payload))
        elif kind == frames.INPUT:
            if channel and channel.feed:
                channel.feed.give(payload)
        elif kind == frames.MORE:
            which, more = frames.GRANT.unpack(payload)
            for tap in channel.taps if channel else ():
                if tap.kind == which:
                    tap.grant(more)
        elif kind == frames.KILL:
            self._kill(number)
        elif kind == frames.HOLD:
            if isinstance(channel, Command) and channel.clock is not None:
                channel.clock.hold(bool(payload))
        else:
            if kind == frames.CLEAR:
                kill_all()
                self._reap()
            else:
                signal_all(_signal.SIGSTOP if kind == frames.STOP else _signal.SIGCONT)
            self.line.send(frames.ENDED, number, frames.DONE.pack(0, 0, 0.0, 0.0))

    def _kill(self, number: int) -> None:
        channel = self.channels.get(number)
        if isinstance(channel, Command) and channel.pid in self.running:
            kill_tree(channel.pid)
        elif channel:
            channel.drop()
            self.channels.pop(number, None)
        listening = self.listening.pop(number, None)
        if listening:
            listening.close()
        origin = self.joined.pop(number, None)
        if origin:
            origin.release_connection()

    # commands

    def _start(self, number: int, request: dict[str, Any]) -> None:
        reached = new_socket() if request["op"] in ("connect", "listen") else None
        try:
            pid, stdin, stdout, stderr, trouble = self.starter.start(request, reached.fileno() if reached else -1)
        except OSError as failure:
            if reached:
                reached.close()
            self.line.send(frames.FAILED, number, str(failure.errno).encode())
            return
        command = Command(number, request, pid, trouble)
        command.reached = reached
        if self.watchdog:
            self.watchdog.due = 0.0
        self.channels[number] = self.running[pid] = command
        OutputStream(self, command, stdout, frames.OUT)
        OutputStream(self, command, stderr, frames.ERR)
        if stdin >= 0:
            InputStream(self, command, stdin, request["input"], request["more"])

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            command = self.running.get(pid)
            if command:
                self._end(command, os.waitstatus_to_exitcode(status))

    def _end(self, command: Command, status: int) -> None:
        """Handle the exit of a command. From now on, the output of its background processes is read and dropped."""
        trouble = os.read(command.trouble, 8192)
        os.close(command.trouble)
        if command.feed:
            command.feed.close()
        for tap in list(command.taps):
            if trouble:
                tap.close()
            else:
                tap.end()
        del self.running[command.pid]
        self.settle(command)
        if trouble:
            self.line.send(frames.FAILED, command.number, trouble)
        else:
            seconds = time.monotonic() - command.started
            had = command.clock.total() if command.clock is not None else seconds
            self.line.send(frames.ENDED, command.number, frames.DONE.pack(status, command.flags, seconds, had))
            if command.reached and not status:
                self._on_socket_ready(command)
                return
        if command.reached:
            command.reached.close()

    def _on_socket_ready(self, command: Command) -> None:
        if command.op == "listen":
            self.listening[command.number] = ListeningSocket(self, command.number, command.reached)
        else:
            open_channel(self, command.number, command.reached)

    def _expire(self) -> None:
        now = time.monotonic()
        for command in list(self.running.values()):
            if command.deadline is not None and now >= command.deadline:
                command.deadline = None
                command.flags |= frames.TIMED_OUT
                kill_tree(command.pid)
            elif command.clock is not None and now >= command.clock.due and command.clock.update():
                command.flags |= frames.TIMED_OUT | (frames.STARVED if command.clock.is_starved else 0)
                kill_tree(command.pid)
                command.clock.due = now + LONGEST
        if self.watchdog and now >= self.watchdog.due and self.watchdog.check():
            self.line.send(frames.OVER, 0)


def main() -> None:
    """Serve a box over a socket. The first argument of the program is the socket's descriptor."""
    serve(_socket.socket(fileno=int(sys.argv[1])))


def serve(socket: Any) -> None:
    """Finish the box as the first frame says, answer with the box's descriptors, then serve requests."""
    socket.setblocking(True)
    received = b""
    while len(received) < frames.HEAD.size or len(received) < frames.HEAD.size + frames.HEAD.unpack_from(received)[0]:
        piece = socket.recv(PIECE)
        if not piece:
            return
        received += piece
    plan = marshal.loads(received[frames.HEAD.size :])
    kept = boot(plan)
    socket.sendmsg(
        [b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, b"".join(fd.to_bytes(4, sys.byteorder) for fd in kept))]
    )
    for descriptor in kept:
        os.close(descriptor)
    ExecServer(socket, plan).run()
