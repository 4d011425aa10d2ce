"""The exec server: process 1 of a box. It starts commands, carries their input and output, ends them, reaps orphans."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal without its enums
import _socket
import marshal
import os
import select
import sys
import time
from typing import Any

from . import frames
from .boot import boot
from .child import Starter
from .processes import Watchdog, everyone, kill_all, kill_tree

MAX_PENDING = 4 << 20
"""Bytes on their way to the platform above which no more output is read from commands."""
MAX_STRAYS = 64
PIECE = 1 << 16


class Command:
    """A running command: its descriptors and its accounts."""

    def __init__(self, number: int, request: dict[str, Any], ends: tuple[int, int, int, int, int]) -> None:
        self.number = number
        self.pid, self.stdin, stdout, stderr, self.trouble = ends
        self.outputs = {stdout: frames.OUT, stderr: frames.ERR}
        self.left: int = request["limit"]
        self.input = memoryview(request["input"])
        self.more: bool = request["more"]
        self.started = time.monotonic()
        self.deadline = self.started + request["timeout"] if request["timeout"] is not None else None
        self.flags = 0
        self.status: int | None = None


class Server:
    """The loop."""

    def __init__(self, socket: Any, plan: dict[str, Any]) -> None:
        self.socket = socket
        self.starter = Starter(plan)
        self.watchdog = Watchdog(plan) if plan["watch"] else None
        self.poll = select.epoll()
        self.commands: dict[int, Command] = {}
        self.by_pid: dict[int, Command] = {}
        self.by_fd: dict[int, Command] = {}
        self.strays: list[int] = []
        self.received = bytearray()
        self.pending = bytearray()
        self.paused = False
        wake, self.wake_far = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.wake_far, False)
        self.wake = wake
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # process 1 cannot be reached by signals it does not handle
        _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
        _signal.set_wakeup_fd(self.wake_far, warn_on_full_buffer=False)
        socket.setblocking(False)
        self.poll.register(socket.fileno(), select.EPOLLIN)
        self.poll.register(wake, select.EPOLLIN)

    def run(self) -> None:
        """Serve until the platform is gone. The end of process 1 ends every process of the box."""
        while True:
            for descriptor, events in self.poll.poll(self._patience()):
                if descriptor == self.socket.fileno():
                    if events & select.EPOLLOUT:
                        self._flush()
                    if events & (select.EPOLLIN | select.EPOLLHUP) and not self._receive():
                        return
                elif descriptor == self.wake:
                    os.read(self.wake, PIECE)
                elif descriptor in self.by_fd:
                    self._serve(descriptor)
                elif descriptor in self.strays:
                    self._drain_stray(descriptor)
            self._reap()
            self._expire()

    def _patience(self) -> float | None:
        ends = [command.deadline for command in self.commands.values() if command.deadline is not None]
        if self.watchdog:
            ends.append(self.watchdog.due)
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    # towards the platform

    def _send(self, kind: int, number: int, payload: bytes = b"") -> None:
        self.pending += frames.pack(kind, number, payload)
        self._flush()

    def _flush(self) -> None:
        while self.pending:
            try:
                sent = self.socket.send(self.pending)
            except BlockingIOError:
                break
            del self.pending[:sent]
        self.poll.modify(self.socket.fileno(), select.EPOLLIN | (select.EPOLLOUT if self.pending else 0))
        full = len(self.pending) > MAX_PENDING
        if full != self.paused:
            self.paused = full
            for command in self.commands.values():
                for descriptor in command.outputs:
                    self.poll.modify(descriptor, 0 if full else select.EPOLLIN)

    def _receive(self) -> bool:
        try:
            data = self.socket.recv(1 << 20)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        if not data:
            return False
        self.received += data
        while len(self.received) >= frames.HEAD.size:
            length, kind, number = frames.HEAD.unpack_from(self.received)
            end = frames.HEAD.size + length
            if len(self.received) < end:
                break
            payload = bytes(self.received[frames.HEAD.size : end])
            del self.received[:end]
            self._obey(kind, number, payload)
        return True

    def _obey(self, kind: int, number: int, payload: bytes) -> None:
        command = self.commands.get(number)
        if kind == frames.START:
            self._start(number, marshal.loads(payload))
        elif kind == frames.INPUT and command:
            command.input, command.more = memoryview(payload), bool(payload)
            self._feed(command)
        elif kind == frames.KILL and command:
            kill_tree(command.pid)
        elif kind == frames.CLEAR:
            kill_all()
            self._reap()
            self._send(frames.ENDED, number, frames.DONE.pack(0, 0, 0.0))
        elif kind in (frames.STOP, frames.CONTINUE):
            everyone(_signal.SIGSTOP if kind == frames.STOP else _signal.SIGCONT)
            self._send(frames.ENDED, number, frames.DONE.pack(0, 0, 0.0))

    # commands

    def _start(self, number: int, request: dict[str, Any]) -> None:
        try:
            ends = self.starter.start(request)
        except OSError as failure:
            self._send(frames.FAILED, number, str(failure.errno).encode())
            return
        command = Command(number, request, ends)
        if self.watchdog:
            self.watchdog.due = 0.0
        self.commands[number] = self.by_pid[command.pid] = command
        for descriptor in command.outputs:
            os.set_blocking(descriptor, False)
            self.by_fd[descriptor] = command
            self.poll.register(descriptor, 0 if self.paused else select.EPOLLIN)
        if command.stdin >= 0:
            os.set_blocking(command.stdin, False)
            self.by_fd[command.stdin] = command
            self.poll.register(command.stdin, select.EPOLLOUT)

    def _serve(self, descriptor: int) -> None:
        command = self.by_fd[descriptor]
        if descriptor == command.stdin:
            self._feed(command)
        elif not self._copy(command, descriptor):
            self._forget(command, descriptor)

    def _feed(self, command: Command) -> None:
        while command.stdin >= 0:
            if not command.input:
                if command.more:
                    self.poll.modify(command.stdin, 0)
                    self._send(frames.WANT, command.number)
                else:
                    self._forget(command, command.stdin)
                return
            try:
                command.input = command.input[os.write(command.stdin, command.input) :]
            except BlockingIOError:
                self.poll.modify(command.stdin, select.EPOLLOUT)
                return
            except BrokenPipeError:
                self._forget(command, command.stdin)

    def _copy(self, command: Command, descriptor: int) -> bool:
        """Take a piece of output; False at its end."""
        try:
            data = os.read(descriptor, PIECE)
        except BlockingIOError:
            return True
        if len(data) > command.left:
            command.flags |= frames.TRUNCATED
        kept = data[: command.left]
        command.left -= len(kept)
        if kept:
            self._send(command.outputs[descriptor], command.number, kept)
        return bool(data)

    def _forget(self, command: Command, descriptor: int) -> None:
        del self.by_fd[descriptor]
        self.poll.unregister(descriptor)
        os.close(descriptor)
        if descriptor == command.stdin:
            command.stdin = -1
        command.outputs.pop(descriptor, None)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            command = self.by_pid.pop(pid, None)
            if command:
                command.status = os.waitstatus_to_exitcode(status)
                self._end(command)

    def _end(self, command: Command) -> None:
        """The command itself is gone. What its background processes still print is read and dropped."""
        trouble = os.read(command.trouble, 8192)
        os.close(command.trouble)
        for descriptor in list(command.outputs):
            for _ in range(32):
                before = command.left
                if not self._copy(command, descriptor):
                    self._forget(command, descriptor)
                    break
                if command.left == before:
                    break
        for descriptor in command.outputs:
            del self.by_fd[descriptor]
            self.poll.modify(descriptor, select.EPOLLIN)
            self.strays.append(descriptor)
        while len(self.strays) > MAX_STRAYS:
            self._close_stray(self.strays[0])
        if command.stdin >= 0:
            self._forget(command, command.stdin)
        del self.commands[command.number]
        if trouble:
            self._send(frames.FAILED, command.number, trouble)
        else:
            seconds = time.monotonic() - command.started
            self._send(frames.ENDED, command.number, frames.DONE.pack(command.status or 0, command.flags, seconds))

    def _drain_stray(self, descriptor: int) -> None:
        try:
            if os.read(descriptor, PIECE):
                return
        except BlockingIOError:
            return
        self._close_stray(descriptor)

    def _close_stray(self, descriptor: int) -> None:
        self.strays.remove(descriptor)
        self.poll.unregister(descriptor)
        os.close(descriptor)

    def _expire(self) -> None:
        now = time.monotonic()
        for command in list(self.commands.values()):
            if command.deadline is not None and now >= command.deadline:
                command.deadline = None
                command.flags |= frames.TIMED_OUT
                kill_tree(command.pid)
        if self.watchdog and now >= self.watchdog.due and self.watchdog.look():
            self._send(frames.OVER, 0)


def main() -> None:
    """Make the box ready as the first frame says, answer with descriptors of its root and output, then serve."""
    socket = _socket.socket(fileno=int(sys.argv[1]))
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
    Server(socket, plan).run()
