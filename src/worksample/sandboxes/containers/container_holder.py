"""The holder of a box that is a container: its Docker daemon, process 1, user id and folder."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from worksample.box import BoxConfig
from worksample.errors import SandboxError
from worksample.files.scratch_folder import started_at
from worksample.sandboxes import bubblewrap_layout as layout
from worksample.sandboxes import cgroups
from worksample.sandboxes.box_holder import STOPPED_WAIT, lock_images
from worksample.sandboxes.cancellation_shield import to_the_end
from worksample.sandboxes.host_state import BoxFolder, UidLease

from . import container_settings
from .docker_daemon import LABEL, Daemon, daemon_errors, remove_container

PAUSES = 10
"""Maximum attempts to pause a container."""
LOOK = 0.2
"""Seconds between two checks whether an exec server that does not answer still runs."""
SAYS_WAIT = 30.0
"""Maximum seconds until the exec server must have connected."""


class ContainerHolder:
    """Holder of a box that is one container of a Docker daemon."""

    def __init__(self, config: BoxConfig, daemon: Daemon, image: str) -> None:
        self._config, self._daemon, self._image = config, daemon, image
        self._lease = UidLease()
        self._host = layout.BoxHost("", True, self._lease.uid, daemon.counts)
        self.folder = BoxFolder(config.label, kind="containers")
        self.name = f"worksample-{self.folder.name}"
        owner = self.folder.owner
        owner.daemon, owner.container = daemon.url, self.name
        self.folder.save()
        self._claim = lock_images(config)
        self._groups = cgroups.BoxCgroups()
        self._line = self.folder.path / "line"
        self._line.mkdir(mode=0o700)
        self._child = -1
        self._near: socket.socket | None = None
        self._started = self._frozen = False

    async def start(self) -> socket.socket:
        """Start the container with the exec server and return the host's end of the connection. Raises SandboxError."""
        # A thread cannot be cancelled: wait for it, so that no container starts after its box was closed.
        await to_the_end(asyncio.to_thread(self._start))
        near, self._near = self._near, None
        assert near is not None
        return near

    def _start(self) -> None:
        api = self._daemon.api
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            way = os.open(self._line, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                door.bind(f"/proc/self/fd/{way}/socket")  # a socket's address has at most 107 bytes
            finally:
                os.close(way)
            door.listen(1)
            wanted = container_settings.container(self._config, self._host, self._image, str(self._line))
            labels = {LABEL: json.dumps({k: v for k, v in asdict(self.folder.owner).items() if k != "groups"})}
            self._started = True
            with daemon_errors("the container cannot be started"):
                made = api.create_container_from_config({**wanted, "Labels": labels}, self.name)
                api.start(self.name)
                self._note_process(int(api.inspect_container(self.name)["State"]["Pid"]), made["Id"])
            self._near = self._accept_server(door)

    def _note_process(self, pid: int, id: str) -> None:
        """Record process 1 of the container and its control groups. Both are visible only if the daemon and this
        process share a pid namespace.
        """
        with suppress(OSError):
            self._child = os.pidfd_open(pid)
            self._groups = cgroups.of_container(pid, id)
            owner = self.folder.owner
            owner.child, owner.child_started = pid, started_at(pid)
            owner.groups = tuple(str(one) for one in (self._groups.freezer, self._groups.unified) if one)
            self.folder.save()

    def _accept_server(self, door: socket.socket) -> socket.socket:
        """Return the connection of the exec server. Raises SandboxError if the container ends before the exec server
        connects.
        """
        door.settimeout(LOOK)
        for _ in range(int(SAYS_WAIT / LOOK)):
            gone = self._child >= 0 and select.select([self._child], [], [], 0)[0]
            with suppress(TimeoutError):
                near, _ = door.accept()
                return near
            if gone:
                break
        raise SandboxError("the box did not start", where="box", next="docker info")

    def plan(self) -> dict[str, Any]:
        """Return the plan by which the exec server finishes the box."""
        return layout.exec_plan(self._config, self._host) | {"container": container_settings.furnishing(self._config)}

    def adopt(self) -> None:
        """Do nothing: `start` has already recorded the process."""

    def messages(self) -> str:
        """Return the text that the container's exec server has printed."""
        with suppress(OSError):
            return (self._line / "said").read_text(encoding="utf-8", errors="replace").strip()
        return ""

    def oom_kills(self) -> int:
        """Return how many processes of the box the kernel has killed for lack of memory."""
        return cgroups.oom_kills(self._groups)

    def processor_seconds(self) -> float | None:
        """Return the processor seconds that the box has used, or None if no control group counts them."""
        return cgroups.processor_seconds(self._groups)

    def freeze(self, frozen: bool) -> bool:
        """Pause or continue the container. Return False if the exec server must do this instead. Raises
        SandboxError.
        """
        what = self._daemon.api.pause if frozen else self._daemon.api.unpause
        with daemon_errors("the container cannot be paused" if frozen else "the container cannot be continued"):
            for more in reversed(range(PAUSES)):
                try:
                    what(self.name)
                    break
                except self._daemon.api_error as failure:
                    # runc tries for a second only, and busy processes may need longer to stop.
                    if not more or "unable to freeze" not in str(failure):
                        raise
        self._frozen = frozen
        return True

    def hurry(self) -> None:
        """Give a background box the processor share of a normal box, if this machine can do that."""
        if self._config.background:
            with daemon_errors("the container cannot be given a fair share of the processors"):
                self._daemon.api.update_container(self.name, cpu_shares=1024)

    def end(self) -> None:
        """Kill every process of the container and wait until the processes are gone. Idempotent. If the daemon has
        gone, process 1 has already exited because its connection to this process was closed.
        """
        if not self._started:
            return
        killed = self._kill()
        if not killed:
            with suppress(OSError):  # an ordinary user may not write these groups
                cgroups.kill(self._groups)
        if self._child >= 0:
            if not select.select([self._child], [], [], STOPPED_WAIT)[0]:
                raise SandboxError("the box could not be stopped", where="box", next="docker ps")
        elif self._frozen and not killed:
            raise SandboxError(
                "the box could not be ended: the Docker daemon has stopped", where="box", next="docker ps"
            )

    def _kill(self) -> bool:
        """Kill the container. Return False if the daemon does not answer."""
        from docker.errors import APIError, DockerException
        from requests import RequestException

        try:
            self._daemon.api.kill(self.name)
        except APIError as failure:
            return failure.status_code in (404, 409)  # it has ended by itself
        except (DockerException, RequestException):
            return False
        return True

    def remove(self) -> None:
        """Remove the container and its folder on the host. If the daemon has gone, `sweep` removes the container
        later.
        """
        if self._child >= 0:
            os.close(self._child)
            self._child = -1
        if self._near is not None:
            self._near.close()
        cgroups.close(self._groups)
        if not self._started or remove_container(self._daemon.url, self.name):
            self.folder.remove()
        while self._claim:
            os.close(self._claim.pop())
        self._lease.release()
