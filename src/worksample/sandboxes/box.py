"""The Box: the one interface to a place where foreign work is done. Files in, commands, files out, limits."""

from __future__ import annotations

import pathlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from worksample.errors import SandboxError
from worksample.sandboxes.config import BoxConfig


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended.

    `returncode` is the exit status, or minus the number of the signal that ended it; 127 and 126 also when the
    program was not found or could not be started (the reason is then in `stderr`). `truncated` says that more was
    printed than was kept, `oom` that a process of the box was ended for want of memory while the command ran,
    `seconds` is wall time inside the box.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
    oom: bool = False
    seconds: float = 0.0


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
        timeout: float | None = None,
        output_limit: int | None = None,
    ) -> Completed:
        """Run a program to its end as the box's user; never raises for what the program does.

        `timeout` in seconds (else the config's), after which the command and all it started are killed. A cancelled
        call kills it too. What a command leaves in the background goes on when the command itself has ended.
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
        """Stop every process of the box. While it is frozen `run` and `write` are refused."""
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

    async def kill(self) -> None:
        """End the box's processes; what is in `output_path` can still be read. Harmless when done twice."""
        ...

    async def close(self) -> None:
        """Kill, and remove everything. Harmless when done twice."""
        ...


def open_box(config: BoxConfig, *, kind: str = "bubblewrap") -> AbstractAsyncContextManager[Box]:
    """A box for the length of an `async with`.

    `kind` is "bubblewrap", or "none" for plain subprocesses without any protection. Raises SandboxError for a config
    that cannot be had, SandboxUnavailable (with the line to type) when this machine gives no box.
    """
    config.check()
    if kind not in ("bubblewrap", "none"):
        raise SandboxError(f'"{kind}" is no kind of box', where="box", next='use "bubblewrap"')
    return _opened(config, kind)


@asynccontextmanager
async def _opened(config: BoxConfig, kind: str) -> AsyncIterator[Box]:
    box = await start_box(config, kind)
    try:
        yield box
    finally:
        await box.close()


async def start_box(config: BoxConfig, kind: str = "bubblewrap") -> Box:
    """A box that the caller closes."""
    config.check()
    if kind == "none":
        from worksample.sandboxes.unsandboxed import PlainBox

        return PlainBox(config)
    from worksample.sandboxes.bubblewrap import start

    return await start(config)
