"""Commands of a plain box, each in its own process group. A process is never signalled by a process id that the kernel
may have reused.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from worksample.box import FairTimeout, ProcessEnd, Timeout
from worksample.sandboxes.in_box.processor_clock import ProcessorClock
from worksample.sandboxes.pipes import Descriptor, PipeReader, PipeWriter

HELD = 32
"""Number of exited group leaders above which the platform looks for empty process groups and reaps their leaders."""


class PlainProcess:
    """A running command of a plain box: the leader of its own process group. The leader is not reaped when it exits. So
    the kernel does not reuse its id, and its group can still be signalled.
    """

    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], told: Callable[[], object]) -> None:
        """The function `told` is called when the process exits. Raises ValueError if an argument or a variable is
        invalid; OSError if the program cannot be started.
        """
        self._began = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._told = told
        self._timer: asyncio.TimerHandle | None = None
        self.done: asyncio.Future[int] = self._loop.create_future()
        self.timed_out, self.starved, self.seconds, self.counted = False, False, 0.0, 0.0
        self._clock: ProcessorClock | None = None
        near, far = [], []
        for flip in (True, False, False):
            one, other = os.pipe()
            near.append(other if flip else one)
            far.append(one if flip else other)
        started = False
        try:
            self._popen = subprocess.Popen(
                argv, stdin=far[0], stdout=far[1], stderr=far[2], cwd=cwd, env=env, start_new_session=True
            )
            started = True
        finally:
            for number in far if started else (*far, *near):
                os.close(number)
        self.pid = self._popen.pid
        self.stdin = PipeWriter(Descriptor(near[0]))
        self.stdout, self.stderr = PipeReader(Descriptor(near[1])), PipeReader(Descriptor(near[2]))
        self._alive = os.pidfd_open(self.pid)
        self._loop.add_reader(self._alive, self._on_exit)

    def limit(self, timeout: Timeout) -> None:
        """Limit the time of the process."""
        if isinstance(timeout, FairTimeout):
            self._clock = ProcessorClock(self.pid, timeout.seconds, timeout.backstop)
            if timeout.held:
                self._clock.hold(True)
            self._look_later(self._clock)
        elif timeout is not None:
            self._timer = self._loop.call_later(timeout, self._expire)

    def hold(self, held: bool) -> None:
        """Stop the time of the process if `held`, otherwise let the time continue."""
        if self._clock is not None:
            self._clock.hold(held)

    def _look_later(self, clock: ProcessorClock) -> None:
        self._timer = self._loop.call_at(self._loop.time() + clock.due - time.monotonic(), self._look, clock)

    def _look(self, clock: ProcessorClock) -> None:
        if clock.update():
            self.starved = clock.is_starved
            self._expire()
        else:
            self._look_later(clock)

    def _expire(self) -> None:
        self.timed_out = True
        self.signal(signal.SIGKILL)

    def _on_exit(self) -> None:
        """Record that the group leader has exited, without reaping it."""
        self._forget()
        state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        assert state is not None
        self.seconds = self.counted = time.monotonic() - self._began
        if self._clock is not None:
            self.counted = self._clock.total()
        self.stdin.descriptor.close()
        self.stdout.end_writing()
        self.stderr.end_writing()
        if not self.done.done():
            self.done.set_result(state.si_status if state.si_code == os.CLD_EXITED else -state.si_status)
        self._told()

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._alive >= 0:
            self._loop.remove_reader(self._alive)
            os.close(self._alive)
            self._alive = -1

    async def wait(self) -> ProcessEnd:
        """Wait until the command has exited. Its output may still have to be read."""
        code = await asyncio.shield(self.done)
        return ProcessEnd(code, self.timed_out, False, self.seconds, self.starved, self.counted)

    async def kill(self) -> None:
        """Kill the command and all processes in its process group."""
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to the remaining processes of the group. The group's id is not reused as long as its leader is
        not reaped.
        """
        if self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def streams_closed(self) -> bool:
        """Return whether stdin, stdout and stderr of the process are all closed."""
        return all(stream.descriptor.closed for stream in (self.stdin, self.stdout, self.stderr))

    def close_streams(self, failure: str = "") -> None:
        """Close stdin, stdout and stderr of the process. `failure` is the reason if the box was closed."""
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.descriptor.close(failure)

    def reap(self, failure: str = "") -> None:
        """Reap the group leader, so that the kernel can reuse its id. `failure` is the reason for the end of its
        streams if the box was closed.
        """
        if self._alive >= 0:  # closed before its end was noticed
            self._popen.wait()
            self._forget()
            if not self.done.done():
                self.done.set_result(self._popen.returncode)
        self.close_streams(failure)
        self._popen.wait()


class UnstartedProcess:
    """A command that could not be started. `wait` and `stderr` tell the reason."""

    def __init__(self, code: int, text: bytes) -> None:
        self.stdin, self.stdout, self.stderr = _ClosedInput(), _FixedOutput(b""), _FixedOutput(text)
        self._code = code

    async def wait(self) -> ProcessEnd:
        """Return the exit status that stands for a command that could not be started."""
        return ProcessEnd(self._code)

    async def kill(self) -> None:
        """Do nothing, because no process was started."""


class _ClosedInput:
    async def write(self, data: bytes) -> None:
        if data:
            raise BrokenPipeError("the program was not started")

    async def close(self) -> None:
        pass


class _FixedOutput:
    def __init__(self, text: bytes) -> None:
        self._text = text

    async def read(self, limit: int = 1 << 16) -> bytes:
        taken, self._text = self._text[:limit], self._text[limit:]
        return taken


class CommandGroups:
    """The process groups of a plain box that may still have processes."""

    def __init__(self) -> None:
        self._held: list[PlainProcess] = []

    def start(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> PlainProcess:
        """Start a command in a new process group. Raises ValueError if an argument or a variable is invalid; OSError if
        the program cannot be started.
        """
        process = PlainProcess(argv, cwd, env, self._drop_empty_groups)
        self._held.append(process)
        return process

    def signal(self, number: int) -> None:
        """Send a signal to all processes that stayed in their process groups."""
        for process in self._held:
            process.signal(number)

    def hurry(self) -> None:
        """Give all processes of the box the usual priority, if the platform's user may do that."""
        for process in self._held:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.setpriority(os.PRIO_PGRP, process.pid, 0)

    def _drop_empty_groups(self) -> None:
        """Reap the exited leaders of process groups that have no other process."""
        ended = [process for process in self._held if process.done.done() and process.streams_closed()]
        if len(ended) >= HELD:
            living = _groups_with_members()
            for process in ended:
                if process.pid not in living:
                    process.reap()
                    self._held.remove(process)

    def end(self, failure: str) -> None:
        """Kill all process groups, wait until their leaders have exited, and close every stream."""
        self.signal(signal.SIGKILL)
        for process in self._held:
            process.reap(failure)
        self._held.clear()


def _groups_with_members() -> set[int]:
    """Return the ids of the process groups that contain a process that has not exited."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:3]
        except OSError:
            continue
        if state not in (b"Z", b"X"):
            found.add(int(group))
    return found
