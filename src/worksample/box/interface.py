"""The Box protocol: the one interface to a place in which untrusted work runs. Files, commands, streams, limits."""

from __future__ import annotations

import pathlib
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .config import BoxConfig, Endpoint
from .timeout import FairTimeout, Timeout


@dataclass(frozen=True, slots=True)
class Completed:
    """The result of a command.

    `returncode` is the exit status, or minus the number of the signal that ended the command; it is also 127 or 126 if
    the program was not found or could not be started (`stderr` then holds the reason). `truncated`: more was printed
    than kept. `oom`: a process of the box was killed for lack of memory while the command ran. `seconds`: wall time
    inside the box. `counted`: the seconds that count for a FairTimeout. `starved`: the backstop of a FairTimeout ended
    the command; `timed_out` is then set too.
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
    """The end of a process whose output was read as a stream; the fields are those of `Completed`."""

    returncode: int
    timed_out: bool = False
    oom: bool = False
    seconds: float = 0.0
    starved: bool = False
    counted: float = 0.0


class Reader(Protocol):
    """Bytes from a box. Unread bytes stay in the box: the program waits, and the host's memory does not grow."""

    async def read(self, limit: int = 1 << 16) -> bytes:
        """Return between one and `limit` bytes as soon as there are any; b"" at the end. One call at a time."""
        ...


class ByteWriter(Protocol):
    """Bytes into a box."""

    async def write(self, data: bytes) -> None:
        """Write `data` and return once the reader can take more. Raises BrokenPipeError if nobody reads any more. One
        call at a time.
        """
        ...

    async def close(self) -> None:
        """End the stream; the other direction stays open. Idempotent."""
        ...


class Process(Protocol):
    """A running command. If it could not be started, `wait` and `stderr` say so, as in `Completed`.

    Its streams end with it: output printed before can still be read, output of its background processes is dropped.
    """

    @property
    def stdin(self) -> ByteWriter: ...
    @property
    def stdout(self) -> Reader: ...
    @property
    def stderr(self) -> Reader: ...

    async def wait(self) -> ProcessEnd:
        """Wait for the process alone; its output may still have to be read."""
        ...

    async def kill(self) -> None:
        """Kill the process and all that it started. Harmless if it has ended."""
        ...


class Connection(Protocol):
    """A Unix socket of the box, connected to a program in it."""

    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> ByteWriter: ...

    async def close(self) -> None:
        """Close both directions at once; bytes that the program has not read may be lost. Idempotent."""
        ...


class Listener(Protocol):
    """A Unix socket of the box to which programs in it connect."""

    async def accept(self) -> Connection:
        """Return the next connection. Programs wait while nobody accepts."""
        ...

    async def close(self) -> None:
        """Accept no more; accepted connections stay open. The socket's file stays. Idempotent."""
        ...


class Box(Protocol):
    """A running box. Every method raises SandboxError if the box is lost or closed.

    Relative paths, including `cwd`, are relative to the scratch folder.
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
        """Run a program to its end as the box's user. Nothing that the program does raises an error.

        `timeout`: seconds on the clock, or a FairTimeout (default: the config's limit), after which the command and all
        that it started are killed. Cancelling the call kills it too. Background processes go on after the command has
        ended.
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
        """Start a program as `run` does, with input and output as streams; it runs until it ends, is killed or the box
        is closed.
        """
        ...

    def hold(self, timeout: FairTimeout, held: bool) -> None:
        """Pause the clock of the command that runs under `timeout`, or start it again if `held` is False.

        The command itself goes on. A command that is started under a held timeout begins with its time stopped.
        """
        ...

    async def connect(self, path: str) -> Connection:
        """Connect to a Unix socket on which a program of the box listens, with the rights of the box's user.

        Raises FileNotFoundError, PermissionError, ConnectionRefusedError or another OSError.
        """
        ...

    async def listen(self, path: str) -> Listener:
        """Listen on a new Unix socket, created with the rights of the box's user.

        Raises FileNotFoundError if its folder is missing, PermissionError, or OSError with EADDRINUSE if the path
        exists.
        """
        ...

    def serve(self, endpoint: Endpoint) -> socket.socket:
        """Return the listening, non-blocking TCP socket behind an endpoint of the config; the caller owns it from now
        on.

        It listens from the box's start, so programs wait until somebody accepts; once it is closed they are refused at
        once. An accepted connection leads from inside the box straight to this process. Raises SandboxError if the box
        has no such endpoint, or its socket was given away before.
        """
        ...

    async def dial(self, port: int, address: str = "127.0.0.1") -> socket.socket:
        """Return a non-blocking TCP connection to a program that listens on the box's own loopback; the caller owns it.

        It works as if a program of the box had connected: nothing else can be reached. Raises ConnectionRefusedError,
        OSError.
        """
        ...

    async def read(self, path: str, limit: int) -> bytes:
        """Return the content of a regular file, read with the rights of the box's user.

        Raises FileNotFoundError, IsADirectoryError, PermissionError, or OSError with EFBIG if the file has more than
        `limit` bytes and with EINVAL if it is not a regular file.
        """
        ...

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Create or replace a regular file and its parent folders, with the rights of the box's user.

        Raises the OSErrors of `read`, and OSError with ENOSPC if the box's disk limit is reached.
        """
        ...

    async def freeze(self) -> None:
        """Stop every process of the box. While the box is frozen, nothing can be started or written."""
        ...

    async def thaw(self) -> None:
        """Let the processes of a frozen box continue."""
        ...

    async def clear(self) -> None:
        """Kill every process that runs in the box; the box and its files stay, and commands can be run again."""
        ...

    @property
    def output_path(self) -> pathlib.Path:
        """The output folder as seen from the host, valid in this process until `close`.

        Its content is untrusted: walk it with descriptors and O_NOFOLLOW, without resolving the path itself.
        """
        ...

    @property
    def changes_path(self) -> pathlib.Path:
        """The changes made so far to the box's own root (`BoxConfig.root`), as seen from the host until `close`: the
        upper layer of an overlay, with marks for removed files. Raises SandboxError if the box has no such root.

        Its content is untrusted, like the output's; it is at rest only in a frozen or killed box.
        """
        ...

    async def hurry(self) -> None:
        """Give a background box a fair share of the processors from now on, as far as the machine allows."""
        ...

    async def kill(self) -> None:
        """Kill the box's processes; `output_path` can still be read. Idempotent."""
        ...

    async def close(self) -> None:
        """Kill the box and remove everything. Idempotent."""
        ...
