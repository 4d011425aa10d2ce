"""Box without any protection: plain subprocesses in a temporary folder, with our own rights.

For trusted work on machines that give no sandbox, by explicit request only. Nothing is contained: programs can read
what we can read, reach the network, and outlive limits other than time and captured output. Mounts are symbolic links.
Paths of the box (the mounts, output, scratch, home and other writable folders, not /tmp) are translated wherever they
stand in arguments and in the environment, and in `read`, `write` and `cwd`; a program file that has such a path written
inside it will not find it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import pathlib
import posixpath
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from worksample.errors import SandboxError
from worksample.sandboxes.box import Completed
from worksample.sandboxes.config import BoxConfig
from worksample.sandboxes.ending import to_the_end
from worksample.sandboxes.layout import HOME, LAST, environment
from worksample.sandboxes.state import BoxFolder


class PlainBox:
    """A temporary folder that has the shape of a box."""

    def __init__(self, config: BoxConfig) -> None:
        self.config = config
        self._folder = BoxFolder(config.label, kind="plain")
        self._root = self._folder.path / "root"
        self._writable = (config.output, config.scratch, *config.writable, HOME)
        for path in self._writable:
            (self._root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for mount in config.mounts:
            link = self._root / mount.target.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            if link.is_dir() and not link.is_symlink() and not any(link.iterdir()):
                link.rmdir()
            link.symlink_to(pathlib.Path(mount.source).absolute())
        known = sorted((*self._writable, *(mount.target for mount in config.mounts)), key=len, reverse=True)
        self._known = re.compile(r"(?<![\w./-])(?:" + "|".join(map(re.escape, known)) + r")(?![\w.-])")
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._frozen = self._closed = False
        self._env = self._environment()

    def _environment(self) -> dict[str, str]:
        given = {name: self._host(value) for name, value in environment(self.config).items()}
        first = pathlib.Path(sys.executable).parent if self.config.python == "platform" else None
        if self.config.python == "toolbox":
            from worksample.sandboxes.toolbox import toolbox_folder

            first = toolbox_folder() / "bin"
        given["PATH"] = ":".join([*([str(first)] if first else []), os.environ.get("PATH", os.defpath)])
        return given

    def _host(self, text: str) -> str:
        """The text with every path of the box in it as a path of the host."""
        return self._known.sub(lambda found: f"{self._root}{found[0]}", text)

    def _path(self, path: str) -> str:
        return self._host(posixpath.join(self.config.scratch, path))

    def _usable(self) -> None:
        if self._closed or self._frozen:
            raise SandboxError("the box was closed" if self._closed else "the box is frozen", where="box")

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
        """See Box.run."""
        self._usable()
        began = time.monotonic()
        words = [*(LAST if self.config.background else ()), *(self._host(word) for word in argv)]
        values = {**self._env, **{name: self._host(value) for name, value in (env or {}).items()}}
        limit = self.config.limits.output if output_limit is None else output_limit
        capture = _Capture(limit)
        try:
            process = await capture.start(words, self._path(cwd or ""), values)
        except (OSError, ValueError) as failure:
            number = (failure.errno if isinstance(failure, OSError) else None) or errno.EINVAL
            folder = self._path(cwd or "")
            text = f"{argv[0] if pathlib.Path(folder).is_dir() else folder}: {os.strerror(number)}\n"
            return Completed(127 if number == errno.ENOENT else 126, b"", text.encode())
        self._running[process.pid] = process
        patience = self.config.limits.time if timeout is None else timeout
        timed_out = False
        try:
            await asyncio.wait_for(capture.until_end(process, input), patience)
        except TimeoutError:
            timed_out = True
        finally:
            if process.returncode is None:
                self._signal(process.pid, signal.SIGKILL)
                await process.wait()
            capture.stop()
        return Completed(
            process.returncode or 0,
            bytes(capture.out),
            bytes(capture.err),
            timed_out,
            capture.truncated,
            False,
            time.monotonic() - began,
        )

    async def read(self, path: str, limit: int) -> bytes:
        """See Box.read."""
        if self._closed:
            raise SandboxError("the box was closed", where="box")
        from worksample.sandboxes.inside.files import read_file

        pieces = bytearray()
        await asyncio.to_thread(_named, path, lambda: read_file(self._path(path), limit, pieces.extend))
        return bytes(pieces)

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """See Box.write."""
        self._usable()
        from worksample.sandboxes.inside.files import write_file

        pieces = [data, b""]
        await asyncio.to_thread(_named, path, lambda: write_file(self._path(path), mode, lambda: pieces.pop(0)))

    def _signal(self, pid: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)

    async def freeze(self) -> None:
        """Stop what runs, as far as it stayed in its process groups."""
        self._usable()
        self._frozen = True
        for pid in self._running:
            self._signal(pid, signal.SIGSTOP)

    async def thaw(self) -> None:
        """See Box.thaw."""
        self._frozen = False
        for pid in self._running:
            self._signal(pid, signal.SIGCONT)

    async def clear(self) -> None:
        """End what runs, as far as it stayed in its process groups."""
        for pid in self._running:
            self._signal(pid, signal.SIGKILL)

    @property
    def output_path(self) -> pathlib.Path:
        """See Box.output_path."""
        return self._root / self.config.output.lstrip("/")

    async def kill(self) -> None:
        """See Box.kill."""
        self._frozen = False
        await self.clear()

    async def close(self) -> None:
        """See Box.close."""
        if not self._closed:
            self._closed = True
            await to_the_end(self._end())

    async def _end(self) -> None:
        await self.kill()
        await asyncio.to_thread(shutil.rmtree, self._folder.path, ignore_errors=True)


def _named(path: str, act: Callable[[], object]) -> None:
    """Run a file operation; its OSError names the path that was asked for."""
    try:
        act()
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None


class _Capture:
    """The input and output of one process, up to a number of bytes.

    The pipes are ours, so that the end of the process is the end of the command, whoever else still holds them.
    """

    def __init__(self, limit: int) -> None:
        self.left, self.truncated = limit, False
        self.out, self.err = bytearray(), bytearray()
        self._far: list[int] = []
        self._readers: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.ReadTransport] = []

    async def start(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> asyncio.subprocess.Process:
        """Start the process. Raises OSError, ValueError."""
        started = False
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=await self._pipe(self.out),
                stderr=await self._pipe(self.err),
                cwd=cwd,
                env=env,
                start_new_session=True,
            )
            started = True
        finally:
            if not started:
                self.stop()
        return process

    async def _pipe(self, into: bytearray) -> int:
        """The writing end of a pipe whose content goes to `into`."""
        near, far = os.pipe()
        self._far.append(far)
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(near, "rb"))
        self._transports.append(transport)
        self._readers.append(asyncio.create_task(self._take(stream, into)))
        return far

    async def _take(self, stream: asyncio.StreamReader, into: bytearray) -> None:
        while data := await stream.read(1 << 16):
            self.truncated = self.truncated or len(data) > self.left
            into += data[: self.left]
            self.left -= min(len(data), self.left)

    async def until_end(self, process: asyncio.subprocess.Process, data: bytes) -> None:
        """Feed the process, and wait for its end and for what it has printed."""
        self._close_far()
        stdin = process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError):
            stdin.write(data)
            await stdin.drain()
        stdin.close()
        await process.wait()
        await asyncio.wait(self._readers, timeout=0.1)

    def _close_far(self) -> None:
        for descriptor in self._far:
            os.close(descriptor)
        self._far.clear()

    def stop(self) -> None:
        """Read no more."""
        self._close_far()
        for reader in self._readers:
            reader.cancel()
        for transport in self._transports:
            transport.close()
