"""A terminal in a box: keys in, output out. The latest output is kept for a browser that reconnects."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import struct
import time
from importlib.resources import files

from worksample.box import Box, Process
from worksample.errors import SandboxError

KEPT = 256 << 10
"""Bytes of the latest output that a browser gets when it reconnects."""
LOGGED = 4 << 20
"""Bytes that are logged between two events; more are counted but not logged."""
_HEAD = struct.Struct("!BI")
_KEYS, _SIZE = 0, 1
SHELLS = 'for s in /bin/bash /bin/sh; do [ -x $s ] && exec python3 -c "$0" $s; done'
PLAIN = "exec /bin/sh -i 2>&1"
"""Command for boxes without Python: no pseudo-terminal, and lines are sent whole."""


class Terminal:
    """A shell in a box. `at`: number of bytes shown so far. All calls belong to one event loop."""

    def __init__(self, process: Process, *, framed: bool) -> None:
        self._process, self._framed = process, framed
        self._shown = bytearray()
        self.at = 0
        self.ended = False
        self._log: list[bytes] = []
        self._logged = 0
        self._news = asyncio.Event()
        self._writing = asyncio.Lock()
        self._reader = asyncio.create_task(self._read_output())

    @classmethod
    async def open(cls, box: Box, folder: str) -> Terminal:
        """Start a shell in `folder`. Raises SandboxError."""
        probe = await box.run(["sh", "-c", "command -v python3"])
        if probe.returncode == 0:
            code = files("worksample.app.workstations.in_box").joinpath("shell.py").read_text(encoding="utf-8")
            return cls(await box.start(["sh", "-c", SHELLS, code], cwd=folder), framed=True)
        return cls(await box.start(["sh", "-c", PLAIN], cwd=folder), framed=False)

    async def _read_output(self) -> None:
        try:
            while data := await self._process.stdout.read(1 << 16):
                self._take(data)
        except SandboxError:
            pass
        self.ended = True
        self._notify()

    def _take(self, data: bytes) -> None:
        self._shown += data
        self.at += len(data)
        del self._shown[:-KEPT]
        if self._logged < LOGGED:
            line = [round(time.time(), 3), "o", data.decode("utf-8", "replace")]
            self._log.append(json.dumps(line).encode())
        self._logged += len(data)
        self._notify()

    def _notify(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def screen(self, after: int, seconds: float) -> dict[str, object]:
        """Return the output after `after` bytes, as soon as there is any; empty after `seconds`."""
        if after >= self.at and not self.ended:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        start = self.at - len(self._shown)
        # A browser left open from an earlier terminal asks beyond this one's output.
        after = start if after > self.at else max(after, start)
        data = bytes(self._shown[after - start :])
        return {"data": base64.b64encode(data).decode(), "at": self.at, "ended": self.ended}

    async def keys(self, data: bytes) -> None:
        """Send keys. Raises SandboxError if the shell has ended."""
        await self._send(_KEYS, data if self._framed else data.replace(b"\r", b"\n"))

    async def size(self, rows: int, columns: int) -> None:
        """Set the window's size."""
        if self._framed:
            await self._send(_SIZE, struct.pack("!HH", rows, columns))

    async def _send(self, kind: int, data: bytes) -> None:
        async with self._writing:
            try:
                await self._process.stdin.write(_HEAD.pack(kind, len(data)) + data if self._framed else data)
            except BrokenPipeError:
                raise SandboxError("the shell has ended", next="open the terminal again") from None

    def log(self) -> bytes:
        """Return the output since the last call, as lines of an asciicast with times since 1970; empty if there is
        none.
        """
        lines, self._log = self._log, []
        if self._logged > LOGGED:
            lines.append(json.dumps([round(time.time(), 3), "m", f"{self._logged - LOGGED} bytes more"]).encode())
        self._logged = 0
        return b"\n".join(lines)

    async def close(self) -> None:
        """End the shell; the box may be gone already."""
        self._reader.cancel()
        self.ended = True
        self._notify()
        with contextlib.suppress(SandboxError):
            await self._process.kill()
