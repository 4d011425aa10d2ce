"""A running service of a task: its program, its last output, the agent's connections to it, and its unexpected end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

from worksample.box import Box, Process, Reader
from worksample.errors import Cause, SandboxError
from worksample.records import ServiceSpec
from worksample.sandboxes.endpoints import ConnectionRecord, ConnectionRefused, relay

from .service_boxes import FILES, STATE

MOST_SAID = 1 << 18
"""Maximum bytes of a service's last output that are stored."""
DIAL_SECONDS = 10.0
WITH_IT = 1.0
"""Seconds. If a service ends within this time after a connection of the agent, the connection counts as the cause."""


@dataclass(frozen=True, slots=True)
class ServiceEnd:
    """The unexpected end of a service."""

    name: str
    how: str
    asked: bool
    """Whether the agent was connected to the service when it ended, or shortly before."""


class TaskService:
    """A running service, created by `begin`."""

    def __init__(self, spec: ServiceSpec, box: Box, process: Process) -> None:
        self.spec, self.box = spec, box
        self.printed = bytearray()
        self.ended: asyncio.Future[ServiceEnd] = asyncio.get_running_loop().create_future()
        self._process = process
        self._asking = 0
        self._asked_last = float("-inf")
        self._tasks = [
            asyncio.create_task(self._listen(process.stdout)),
            asyncio.create_task(self._listen(process.stderr)),
        ]
        self._tasks.append(asyncio.create_task(self._end(tuple(self._tasks))))

    @classmethod
    async def begin(cls, spec: ServiceSpec, box: Box) -> TaskService:
        """Start the program of a service. Raises SandboxError (`service.start`) if the program cannot be started."""
        state = f"{STATE}/{spec.name}"
        words = {"{files}": f"{FILES}/{spec.name}", "{state}": state}
        made = await box.run(["mkdir", "-p", state], timeout=60)
        if made.returncode:
            said = made.stderr.decode(errors="replace").strip()
            raise SandboxError(
                f"the service's box cannot create its state folder: {said}",
                where=f"service {spec.name}",
                next="worksample doctor",
                cause=Cause.SERVICE_START,
            )
        env = {key: _fill_in(value, words) for key, value in spec.env.items()}
        return cls(spec, box, await box.start([_fill_in(part, words) for part in spec.argv], cwd=state, env=env))

    async def dial(self, port: int) -> socket.socket:
        """Connect to a port of the service. Raises TimeoutError if the service does not accept in time; SandboxError if
        its box is lost; OSError for other failures.
        """
        async with asyncio.timeout(DIAL_SECONDS):
            return await self.box.dial(port)

    async def write_line(self, line: bytes) -> None:
        """Write a line to the standard input of the service. Raises BrokenPipeError if the service reads no more;
        SandboxError if its box is lost.
        """
        await self._process.stdin.write(line)

    def last_lines(self) -> str:
        """Return the last lines of the service's output, for an error message."""
        return "\n".join(self.printed.decode(errors="replace").strip().splitlines()[-5:])[-1000:]

    @contextlib.contextmanager
    def count_request(self) -> Iterator[None]:
        """Count the agent as connected to the service during the `with` block."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            self._asked_last = time.monotonic()

    async def _listen(self, stream: Reader) -> None:
        with contextlib.suppress(SandboxError):
            while piece := await stream.read():
                self.printed += piece
                del self.printed[:-MOST_SAID]

    async def _end(self, listening: tuple[asyncio.Task[None], ...]) -> None:
        try:
            ended = await self._process.wait()
        except SandboxError as error:
            how, lost = str(error.what), True
        else:
            how = "was ended for want of memory" if ended.oom else f"ended with exit status {ended.returncode}"
            lost = False
        asked = not lost and (self._asking > 0 or time.monotonic() - self._asked_last < WITH_IT)
        await asyncio.wait(listening, timeout=1)  # read its last output; its children may keep the stream open
        if not self.ended.done():
            self.ended.set_result(ServiceEnd(self.spec.name, how, asked))

    async def close(self) -> None:
        """Stop watching the service. The service ends when its box is closed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class ServiceTarget:
    """A target of an endpoint: one port of a service."""

    service: TaskService
    port: int

    @property
    def rule(self) -> str:
        """Name of the service and its port, for the record of connections."""
        return f"service {self.service.spec.name}:{self.port}"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Connect to the service and relay bytes between the agent's box and the service."""
        with self.service.count_request():
            try:
                outside = await self.service.dial(self.port)
            except (OSError, TimeoutError) as error:
                raise ConnectionRefused(
                    f"the service behind {self.rule} does not answer: {error or 'no answer in time'}"
                ) from None
            except SandboxError as error:
                raise ConnectionRefused(f"the service behind {self.rule} has ended: {error.what}") from None
            await relay(connection, outside, contact)


def _fill_in(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
