"""Boxes that are containers of this machine's Docker daemon, and the base image from which all these containers
start.
"""

from __future__ import annotations

import asyncio
import fcntl
import functools
import hashlib
import io
import json
import tarfile
import threading

from worksample.box import Box, BoxConfig
from worksample.errors import SandboxError
from worksample.sandboxes import bubblewrap_layout as layout
from worksample.sandboxes import exec_server_box as served_box
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.orphan_sweeper import sweep_first

from .containers.container_holder import ContainerHolder
from .containers.docker_daemon import Daemon, connect, daemon_errors, daemon_url, sweep_containers

_LOCK = threading.Lock()


def _prepare(config: BoxConfig) -> tuple[Daemon, str]:
    found = connect(daemon_url())
    sweep_first()
    layout.prepare(config)
    with _LOCK:
        return found, _prepare_daemon(found)


@functools.cache
def _prepare_daemon(found: Daemon) -> str:
    """Remove the containers that killed runs left, and return the name of the base image. This is done once per
    process.
    """
    sweep_containers(found.url)
    return ensure_base_image(found)


async def start(config: BoxConfig) -> Box:
    """Start a box as a container. Raises MissingExtra if Docker's Python client is not installed; SandboxUnavailable if
    this machine has no usable daemon; SandboxError for other failures.
    """
    found, image = await asyncio.to_thread(_prepare, config)
    return await served_box.start(config, lambda config: ContainerHolder(config, found, image))


NAME = "worksample-box"
_FOLDERS = ("dev", "etc", "proc", "root", "run", "sys", "usr", "task", "home", "opt", "var", "tmp")


def ensure_base_image(daemon: Daemon) -> str:
    """Return the name of the base image, after importing the image into the daemon if necessary. Other processes wait
    during the import. Raises SandboxError.
    """
    from docker.errors import ImageNotFound

    content = _content()
    name = f"{NAME}-{hashlib.sha256(content).hexdigest()[:24]}"  # Podman imports images with the default tag only
    with (
        (cache_folder() / ".docker-base.lock").open("w", encoding="utf-8") as lock,
        daemon_errors(f"the image {name} cannot be made"),
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            daemon.api.inspect_image(name)
        except ImageNotFound:
            told = daemon.api.import_image_from_data(content, repository=name, tag="latest")
            said = [json.loads(line) for line in str(told).splitlines() if line.strip()]
            wrong = [str(one["error"]) for one in said if "error" in one]
            if wrong:
                raise SandboxError(
                    f"Docker: the image {name} cannot be made: {wrong[0]}", where="sandbox docker", next="docker info"
                ) from None
    return name


def _content() -> bytes:
    """Return the base image as a tar archive of empty folders to mount on and links to programs. The bytes are the same
    at every call on the same machine.
    """
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for folder in _FOLDERS:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path, target in layout.program_folders()[1]:
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    return out.getvalue()
