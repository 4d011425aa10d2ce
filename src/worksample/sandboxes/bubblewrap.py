"""Boxes made by the program bubblewrap. Each box has one holder process, which runs as root or as an ordinary user. No
daemon is needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
from functools import partial
from typing import Any

from worksample.box import Box, BoxConfig
from worksample.errors import SandboxError
from worksample.files.scratch_folder import started_at
from worksample.sandboxes import bubblewrap_layout as layout
from worksample.sandboxes import cgroups
from worksample.sandboxes import exec_server_box as served_box
from worksample.sandboxes.box_holder import STOPPED_WAIT, lock_images
from worksample.sandboxes.orphan_sweeper import sweep_first

from .availability import require_bubblewrap
from .host_state import BoxFolder, UidLease
from .processes_by_variable import maker_environment


class BubblewrapHolder:
    """Holder of a bubblewrap box: the box's process, control groups, user id and folder. Raises SandboxUnavailable if
    this machine cannot run bubblewrap.
    """

    def __init__(self, config: BoxConfig) -> None:
        found = require_bubblewrap()
        self._config = config
        self._lease = UidLease() if found.root else None
        uid = self._lease.uid if self._lease else layout.ROOTLESS_UID
        self.folder = BoxFolder(config.label, groups=partial(cgroups.planned_folders, found.parents))
        limits = config.limits
        if found.parents.memory and found.parents.pids:
            memory = limits.memory + limits.disk + (32 << 20)
            self.groups = cgroups.make(found.parents, self.folder.name, memory, limits.processes + 1)
        else:
            self.groups = cgroups.make(cgroups.CgroupParents(unified=found.parents.unified), self.folder.name, 0, 0)
        if config.background:
            cgroups.lower_share(found.parents, self.groups, self.folder.name)
        self.host = layout.BoxHost(found.bwrap, found.root, uid, self.groups.has_limits())
        self._claim = lock_images(config)
        self._log = self.folder.path / "holder.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._child = self._info = -1

    async def start(self) -> socket.socket:
        """Start bubblewrap with the exec server and return the host's end of their socket. Call this in the event
        loop's thread, never in a worker thread: the kernel kills bubblewrap when the thread that started it ends.
        """
        near, far = socket.socketpair()
        self._info, info = os.pipe()
        try:
            with self._log.open("wb") as messages, far:
                self._process = subprocess.Popen(
                    layout.bubblewrap_command(self._config, self.host, far.fileno(), info),
                    stdin=subprocess.DEVNULL,
                    stdout=messages,
                    stderr=messages,
                    pass_fds=(far.fileno(), info),
                    env=maker_environment(),
                    cwd="/",
                )
        finally:
            os.close(info)
            if self._process is None:
                near.close()
                os.close(self._info)
        return near

    def plan(self) -> dict[str, Any]:
        """Return the plan by which the exec server finishes the box."""
        return layout.exec_plan(self._config, self.host)

    def oom_kills(self) -> int:
        """Return how many processes of the box the kernel has killed for lack of memory."""
        return cgroups.oom_kills(self.groups)

    def processor_seconds(self) -> float | None:
        """Return the processor seconds that the box has used, or None if no control group counts them."""
        return cgroups.processor_seconds(self.groups)

    def freeze(self, frozen: bool) -> bool:
        """Stop or continue every process of the box. Return False if the exec server must do this instead."""
        return cgroups.freeze(self.groups, frozen)

    def hurry(self) -> None:
        """Give a background box the processor share of a normal box, if this machine can do that."""
        if self._config.background:
            cgroups.restore_share(self.groups, self.folder.name)

    def adopt(self) -> None:
        """Put process 1 of the box into the box's control groups as soon as bubblewrap reports the process id, and
        record the process.
        """
        told = b""
        try:
            while b"}" not in told:
                piece = os.read(self._info, 4096)
                if not piece:
                    return  # bubblewrap failed; the handshake reports it
                told += piece
        finally:
            os.close(self._info)
        pid = int(json.loads(told)["child-pid"])
        self._child = os.pidfd_open(pid)
        owner = self.folder.owner
        assert self._process is not None
        owner.holder, owner.holder_started = self._process.pid, started_at(self._process.pid)
        owner.child, owner.child_started = pid, started_at(pid)
        owner.groups = tuple(str(folder) for folder in self.groups.folders)
        self.folder.save()
        try:
            cgroups.join(self.groups, pid)
        except OSError as failure:
            raise SandboxError(
                f"the box could not be put into its control groups: {failure}", where="box", next="worksample doctor"
            ) from None

    def messages(self) -> str:
        """Return the text that bubblewrap and the exec server have printed."""
        return self._log.read_text(encoding="utf-8", errors="replace").strip() if self._log.exists() else ""

    def end(self) -> None:
        """Kill every process of the box and wait until the processes are gone. Idempotent."""
        if self._child >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._child, signal.SIGKILL)
        if self.groups.folders:
            with contextlib.suppress(OSError):
                cgroups.kill(self.groups)
        if self._process is not None and self._child < 0:
            self._process.kill()
        if self._process is not None:
            try:
                self._process.wait(STOPPED_WAIT)
            except subprocess.TimeoutExpired:
                raise SandboxError("the box could not be ended", where="box", next="worksample doctor") from None
            self._process = None

    def remove(self) -> None:
        """Remove the box's folder and control groups from the host, after every process of the box has ended."""
        if self._child >= 0:
            os.close(self._child)
            self._child = -1
        cgroups.close(self.groups)
        cgroups.remove(self.groups.folders)
        self.folder.remove()
        while self._claim:
            os.close(self._claim.pop())
        if self._lease is not None:
            self._lease.release()


def _prepare(config: BoxConfig) -> None:
    sweep_first()
    layout.prepare(config)


async def start(config: BoxConfig) -> Box:
    """Start a box. Raises SandboxUnavailable if this machine cannot run bubblewrap; SandboxError for other failures."""
    await asyncio.to_thread(_prepare, config)
    return await served_box.start(config, BubblewrapHolder)
