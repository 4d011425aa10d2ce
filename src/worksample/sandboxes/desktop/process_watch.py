"""The programs that run in a desktop's box, as the kernel shows them: which file each process executes.

The list is read in the box, by a shell of the box. A program can hide there only if it replaces the shell, which an
agent can do in an image of its own; a process cannot pretend to execute another file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from worksample.box import Box
from worksample.errors import SandboxError

PERIOD = 3.0
LARGEST = 64 << 10
MOST = 200
_LIST = 'for p in /proc/[0-9]*/exe; do readlink "$p"; done 2>/dev/null | sort | uniq -c'


class ProcessWatch:
    """A list of the executed files that is read every PERIOD seconds."""

    def __init__(self, box: Box, on_processes: Callable[[Sequence[Mapping[str, Any]]], None]) -> None:
        self._box, self._on_processes = box, on_processes
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start reading."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Read once more, and stop. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            with contextlib.suppress(SandboxError):
                await self._read()

    async def _run(self) -> None:
        with contextlib.suppress(SandboxError):
            while True:
                await self._read()
                await asyncio.sleep(PERIOD)

    async def _read(self) -> None:
        done = await self._box.run(["sh", "-c", _LIST], timeout=30, output_limit=LARGEST)
        rows = [line.split(None, 1) for line in done.stdout.decode("utf-8", "replace").splitlines()[:MOST]]
        self._on_processes(
            [{"path": row[1], "count": int(row[0])} for row in rows if len(row) == 2 and row[0].isdecimal()]
        )
