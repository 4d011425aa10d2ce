"""A box for tests: a folder and plain subprocesses, which can be told to misbehave."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worksample.box import FairTimeout, Timeout
from worksample.errors import SandboxError


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
    starved: bool = False
    counted: float = 0.0
    seconds: float = 0.0


@dataclass
class FolderBox:
    """`lost` names the operations that fail as in a dead box; `calls` lists what was asked.

    `holding` are programs that run in the box until it is cleared; `crowded`: nothing more can be started until then.
    """

    output: Path
    lost: tuple[str, ...] = ()
    calls: list[str] = field(default_factory=list)
    holding: list[subprocess.Popen[bytes]] = field(default_factory=list)
    crowded: bool = False
    starving: bool = False
    """Programs get too little of the processor."""

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.lost:
            raise SandboxError("the box is gone", where="box")

    @property
    def output_path(self) -> Path:
        self._call("output_path")
        return self.output

    async def freeze(self) -> None:
        self._call("freeze")

    async def thaw(self) -> None:
        self._call("thaw")

    async def clear(self) -> None:
        self._call("clear")
        self.crowded = False
        for program in self.holding:
            program.kill()
            program.wait()

    async def run(
        self,
        argv: Sequence[str],
        *,
        input: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Timeout = None,
        output_limit: int | None = None,
    ) -> Done:
        self._call("run")
        if self.crowded:
            return Done(126, b"", f"{argv[0]}: {os.strerror(errno.EAGAIN)}\n".encode())
        if self.starving:
            return Done(-9, b"", b"", timed_out=True, starved=True, counted=0.5, seconds=900.0)
        seconds = timeout.seconds if isinstance(timeout, FairTimeout) else timeout
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self.output, env={**os.environ, **(env or {})}
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(input), seconds)
        except TimeoutError:
            process.kill()
            await process.communicate()
            return Done(-9, b"", b"", timed_out=True)
        cut = output_limit is not None and len(out) > output_limit
        return Done(process.returncode or 0, out[:output_limit], err, truncated=cut)
