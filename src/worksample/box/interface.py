"""The Box: the one interface to a place where foreign work is done. Files in, commands, files out, streams, limits."""

from __future__ import annotations

import pathlib
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .config import BoxConfig, Endpoint
from .timeout import Timeout


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended.

    `returncode` is the exit status, or minus the number of the signal that ended it; 127 and 126 also when the
    program was not found or could not be started (the reason is then in `stderr`). `truncated` says that more was
    printed than was kept, `oom` that a process of the box was ended for want of memory while the command ran,
    `seconds` is wall time inside the box, `counted` those of them that count for a FairTimeout. `starved` says that
    the command was ended at the backstop of one, in which case `timed_out` is set too.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
    oom: bool = False
    seconds: float = 0.0
    starved: bool = False
    counted: float = 0.0


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended, when its output was read as a stream; the fields are those of `Completed`."""

    returncode: int
    timed_out: bool = False
    oom: bool = False
    seconds: float = 0.0
    starved: bool = False
    counted: float = 0.0


class Reader(Protocol):
    """Bytes from a box. What is not read stays in the box: its writer waits, and the host's memory does not grow."""

    async def read(self, limit: int = 1 << 16) -> bytes:
        """At least one byte and at most `limit`, as soon as there are any; b"" at the end. One call at a time."""
        ...


class ByteWriter(Protocol):
    """Bytes into a box."""

    async def write(self, data: bytes) -> None:
        """Returns once the other end can take more; BrokenPipeError when nobody reads any more. One call at a time."""
        ...

    async def close(self) -> None:
        """The end of what is written; the other direction stays open. Harmless when done twice."""
        ...


class Process(Protocol):
    """A running command. Where it could not be started, `wait` and `stderr` say so, as in `Completed`.

    Its streams end with it: what it had printed can still be read, what it left in the background is not heard.
    """

    @property
    def stdin(self) -> ByteWriter: ...
    @property
    def stdout(self) -> Reader: ...
    @property
    def stderr(self) -> Reader: ...

    async def wait(self) -> ProcessEnd:
        """Wait for the process alone: its output may still have to be read."""
        ...

    async def kill(self) -> None:
        """End it and all it started. Harmless when it has ended."""
        ...


class Connection(Protocol):
    """A Unix socket of the box, connected to a program in it."""

    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> ByteWriter: ...

    async def close(self) -> None:
        """Close both directions at once; what the program has not read yet may be lost. Harmless when done twice."""
        ...


class Listener(Protocol):
    """A Unix socket of the box to which programs in it connect."""

    async def accept(self) -> Connection:
        """The next connection. Programs wait when nobody accepts."""
        ...

    async def close(self) -> None:
        """Accept no more; accepted connections go on. The socket's file stays. Harmless when done twice."""
        ...


class Box(Protocol):
    """A running box. Every method raises SandboxError when the box is lost or closed.

    Relative paths, also in `cwd`, are relative to the scratch folder.
    """

    config: BoxConfig

    async def run(
        self,
        argv: Sequence[str],
        *,
        input: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Timeout = None,
        output_limit: int | None = None,
    ) -> Completed:
        """Run a program to its end as the box's user; never raises for what the program does.

        `timeout` in seconds on the clock or a FairTimeout (else the config's), after which the command and all it
        started are killed. A cancelled call kills it too. What a command leaves in the background goes on when the
        command itself has ended.
        """
        ...

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Timeout = None,
    ) -> Process:
        """Start a program as `run` does, with its input and output as streams; it goes on until killed or closed."""
        ...

    async def connect(self, path: str) -> Connection:
        """Connect to a Unix socket on which a program of the box listens.

        With the rights of the box's user: raises FileNotFoundError, PermissionError, ConnectionRefusedError, OSError.
        """
        ...

    async def listen(self, path: str) -> Listener:
        """Listen on a fresh Unix socket, made with the rights of the box's user.

        Raises FileNotFoundError without its folder, PermissionError, OSError with EADDRINUSE where something lies.
        """
        ...

    def serve(self, endpoint: Endpoint) -> socket.socket:
        """The listening TCP socket behind an endpoint of the config, without blocking; the caller's from now on.

        It listens from the box's start, so programs wait until somebody accepts; once it is closed they are refused at
        once. What is accepted is a connection from inside the box, straight to this process. SandboxError for what is
        no endpoint of the box or was given away before.
        """
        ...

    async def dial(self, port: int, address: str = "127.0.0.1") -> socket.socket:
        """A TCP connection to a program that listens on the box's own loopback, without blocking; the caller's.

        It is as if a program of the box had connected: nothing else can be reached. Raises ConnectionRefusedError,
        OSError.
        """
        ...

    async def read(self, path: str, limit: int) -> bytes:
        """The content of a regular file, with the rights of the box's user.

        Raises FileNotFoundError, IsADirectoryError, PermissionError, or OSError with EFBIG when it has more than
        `limit` bytes and with EINVAL when it is no regular file.
        """
        ...

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Make or replace a regular file, with its parent folders, with the rights of the box's user.

        Raises the OSErrors of `read`, and OSError with ENOSPC when the box's disk limit is reached.
        """
        ...

    async def freeze(self) -> None:
        """Stop every process of the box. While it is frozen nothing is started or written."""
        ...

    async def thaw(self) -> None:
        """Let them go on."""
        ...

    async def clear(self) -> None:
        """End every process that runs in the box; the box and its files stay, and commands can be run again."""
        ...

    @property
    def output_path(self) -> pathlib.Path:
        """The output folder from the host's side, valid in this process until `close`.

        Its content is hostile: walk it with descriptors, O_NOFOLLOW and without resolving the path itself.
        """
        ...

    @property
    def changes_path(self) -> pathlib.Path:
        """What was written to the box's own root (`BoxConfig.root`) so far, from the host's side, until `close`: the
        upper side of an overlay, with its marks of what was removed. SandboxError where there is no such root.

        Its content is hostile, as the output's is; it is at rest in a frozen or killed box only.
        """
        ...

    async def hurry(self) -> None:
        """Give a box in the background a fair share of the processors from now on, as far as the machine allows it."""
        ...

    async def kill(self) -> None:
        """End the box's processes; what is in `output_path` can still be read. Harmless when done twice."""
        ...

    async def close(self) -> None:
        """Kill, and remove everything. Harmless when done twice."""
        ...
