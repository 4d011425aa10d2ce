"""The bubblewrap implementation of Box: one holder process per box, its exec server inside, the host's side here."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import pathlib
import posixpath
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from worksample.errors import SandboxError
from worksample.sandboxes import cgroups, layout
from worksample.sandboxes.available import require
from worksample.sandboxes.box import Completed
from worksample.sandboxes.config import BoxConfig
from worksample.sandboxes.ending import to_the_end
from worksample.sandboxes.hostside import read_contained
from worksample.sandboxes.inside import frames
from worksample.sandboxes.link import Link, Reply
from worksample.sandboxes.state import BoxFolder, UidLease, started_at

START_WAIT = 30.0
"""Seconds a box may take to come up."""
STOPPED_WAIT = 10.0
"""Seconds the holder may take to be gone after it was killed."""


class BubblewrapBox:
    """A box in its own namespaces. Made by `start`."""

    def __init__(self, config: BoxConfig) -> None:
        found = require()
        self.config = config
        self._lease = UidLease() if found.root else None
        uid = self._lease.uid if self._lease else layout.ROOTLESS_UID
        self._folder = BoxFolder(config.label)
        self._groups = cgroups.Groups()
        limits = config.limits
        if found.parents.memory and found.parents.pids:
            memory = limits.memory + limits.disk + (32 << 20)
            self._groups = cgroups.make(found.parents, self._folder.name, memory, limits.processes + 1)
        else:
            self._groups = cgroups.make(cgroups.Parents(unified=found.parents.unified), self._folder.name, 0, 0)
        self._host = layout.Host(found.bwrap, found.root, uid, self._groups.counted())
        self._env = layout.environment(config)
        self._holder: subprocess.Popen[bytes] | None = None
        self._child = -1
        self._link: Link | None = None
        self._root = self._output = -1
        self._frozen = self._closed = False

    async def open(self) -> None:
        """Start the holder and finish the box."""
        plan = layout.plan(self.config, self._host)
        log = self._folder.path / "holder.log"
        info, info_far = os.pipe()
        try:
            self._link = Link(self._spawn(log, info_far))
            adopting = asyncio.create_task(asyncio.to_thread(self._adopt, info))  # while the exec server starts
            try:
                self._root, self._output = await self._link.handshake(plan, START_WAIT)
            finally:
                await to_the_end(adopting)
        except SandboxError as failure:
            reason = log.read_text(encoding="utf-8", errors="replace").strip()
            raise SandboxError(
                f"{failure.what}: {reason[-2000:]}" if reason else failure.what, where="box", next="worksample doctor"
            ) from None
        finally:
            os.close(info)

    def _spawn(self, log: pathlib.Path, info: int) -> socket.socket:
        """Start the holder; return our end of its line. `info` is closed here."""
        near, far = socket.socketpair()
        try:
            with log.open("wb") as messages, far:
                self._holder = subprocess.Popen(
                    layout.command(self.config, self._host, far.fileno(), info),
                    stdin=subprocess.DEVNULL,
                    stdout=messages,
                    stderr=messages,
                    pass_fds=(far.fileno(), info),
                    env={},
                    cwd="/",
                )
        finally:
            os.close(info)
            if self._holder is None:
                near.close()
        return near

    def _adopt(self, info: int) -> None:
        """Put process 1 into the control groups as soon as bubblewrap tells its id, and note who it is."""
        told = b""
        while b"}" not in told:
            piece = os.read(info, 4096)
            if not piece:
                return  # bubblewrap failed, which the handshake finds out too
            told += piece
        pid = int(json.loads(told)["child-pid"])
        self._child = os.pidfd_open(pid)
        owner = self._folder.owner
        assert self._holder is not None
        owner.holder, owner.holder_started = self._holder.pid, started_at(self._holder.pid)
        owner.child, owner.child_started = pid, started_at(pid)
        owner.groups = tuple(str(folder) for folder in self._groups.folders)
        self._folder.save()
        try:
            cgroups.join(self._groups, pid)
        except OSError as failure:
            raise SandboxError(f"the box could not be put into its control groups: {failure}", where="box") from None

    # files and commands

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
        if not argv:
            raise SandboxError("there is no command to run", where="box")
        limits = self.config.limits
        body = {
            "op": "run",
            "argv": list(argv),
            "cwd": posixpath.join(self.config.scratch, cwd or ""),
            "env": {**self._env, **(env or {})},
            "timeout": limits.time if timeout is None else timeout,
            "limit": limits.output if output_limit is None else output_limit,
        }
        link = self._usable()
        kills = cgroups.oom_kills(self._groups) + link.overs
        reply = await link.request(frames.START, body, input)
        oom = cgroups.oom_kills(self._groups) + link.overs > kills
        if reply.errno:
            text = f"{reply.where or argv[0]}: {os.strerror(reply.errno)}\n"
            return Completed(127 if reply.errno == errno.ENOENT else 126, b"", text.encode(), oom=oom)
        return Completed(
            reply.returncode,
            bytes(reply.out),
            bytes(reply.err),
            bool(reply.flags & frames.TIMED_OUT),
            bool(reply.flags & frames.TRUNCATED),
            oom,
            reply.seconds,
        )

    async def read(self, path: str, limit: int) -> bytes:
        """See Box.read. A frozen box gives files of its writable folders only, a dead one of its output only."""
        path = posixpath.join(self.config.scratch, path)
        if self._root < 0:
            raise SandboxError("the box was closed", where="box")
        if self._link is None:
            if not path.startswith(self.config.output + "/"):
                raise SandboxError(f"{path} went with the box: after its end only the output is left", where="box")
            inner = path.removeprefix(self.config.output)
            return await asyncio.to_thread(read_contained, self._output, self._output, inner, limit)
        if self._frozen:
            return await asyncio.to_thread(read_contained, self._root, self._output, path, limit)
        return bytes((await self._file("read", path, limit=limit)).out)

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """See Box.write."""
        await self._file("write", posixpath.join(self.config.scratch, path), data, mode=mode)

    async def _file(self, op: str, path: str, data: bytes = b"", *, limit: int = 0, mode: int = 0) -> Reply:
        body: dict[str, Any] = {"op": op, "path": path, "cwd": "/", "timeout": None, "limit": limit, "mode": mode}
        reply = await self._usable().request(frames.START, body, data)
        if reply.errno:
            raise OSError(reply.errno, os.strerror(reply.errno), path)
        if reply.returncode:
            raise OSError(errno.EIO, "the operation was ended from inside the box", path)
        return reply

    def _usable(self) -> Link:
        if self._link is None or self._closed:
            raise SandboxError("the box was closed", where="box")
        if self._frozen:
            raise SandboxError("the box is frozen", where="box")
        return self._link

    # the whole box

    async def freeze(self) -> None:
        """See Box.freeze."""
        if not self._frozen:
            link = self._usable()
            if not await asyncio.to_thread(cgroups.freeze, self._groups, True):
                await link.request(frames.STOP)
            self._frozen = True

    async def thaw(self) -> None:
        """See Box.thaw."""
        if self._frozen:
            self._frozen = False
            if not await asyncio.to_thread(cgroups.freeze, self._groups, False):
                await self._usable().request(frames.CONTINUE)

    async def clear(self) -> None:
        """See Box.clear."""
        await self._usable().request(frames.CLEAR)

    @property
    def output_path(self) -> pathlib.Path:
        """See Box.output_path."""
        if self._output < 0:
            raise SandboxError("the box was closed", where="box")
        return pathlib.Path(f"/proc/{os.getpid()}/fd/{self._output}")

    async def kill(self) -> None:
        """See Box.kill."""
        link, self._link = self._link, None
        if self._child >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._child, signal.SIGKILL)
        if self._groups.folders:
            with contextlib.suppress(OSError):
                cgroups.kill(self._groups)
        if self._holder is not None:
            if self._child < 0:
                self._holder.kill()
            try:
                await asyncio.to_thread(self._holder.wait, STOPPED_WAIT)
            except subprocess.TimeoutExpired:
                raise SandboxError("the box could not be ended", where="box", next="worksample doctor") from None
            self._holder = None
        if link is not None:
            await link.close()

    async def close(self) -> None:
        """See Box.close."""
        if not self._closed:
            self._closed = True
            await to_the_end(self._end())

    async def _end(self) -> None:
        await self.kill()
        for descriptor in (self._child, self._root, self._output):
            if descriptor >= 0:
                os.close(descriptor)
        self._child = self._root = self._output = -1
        await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        import shutil

        cgroups.remove(self._groups.folders)
        shutil.rmtree(self._folder.path, ignore_errors=True)
        if self._lease is not None:
            self._lease.release()


async def start(config: BoxConfig) -> BubblewrapBox:
    """A running box; raises SandboxError, SandboxUnavailable."""
    await asyncio.to_thread(layout.prepare, config)
    box = BubblewrapBox(config)
    ready = False
    try:
        await box.open()
        ready = True
    finally:
        if not ready:
            await box.close()
    return box
