"""The Docker daemon: its address, its abilities, and its failures as SandboxError."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from worksample.errors import SandboxError, SandboxUnavailable
from worksample.extras import need
from worksample.sandboxes.host_state import BoxOwner
from worksample.sudo_command import root_command

USUAL = "unix:///var/run/docker.sock"
LABEL = "worksample.box"
"""Label of every container that we create; its value says who created it, as JSON."""
WAIT = 120
"""Seconds that one request may take."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon that answers."""

    url: str
    version: str
    counts: bool
    """Whether it limits memory and processes of containers."""
    api: Any
    """The client; several threads may use it at once."""
    api_error: type[Exception]
    """Exception that the client raises if the daemon refuses a request."""


def daemon_url() -> str:
    """Return DOCKER_HOST, or the usual socket. Raises SandboxUnavailable if it is not a socket of this machine."""
    found = os.environ.get("DOCKER_HOST") or USUAL
    if not found.startswith("unix://"):
        raise SandboxUnavailable(
            f"the Docker daemon at {found} runs on another machine, but a box's files must be on this one",
            where="sandbox docker",
            next="unset DOCKER_HOST",
        )
    return found


@contextmanager
def daemon_errors(what: str) -> Iterator[None]:
    """Raise SandboxError if the daemon refuses a request in the block or stops answering. `what`: what failed."""
    from docker.errors import DockerException
    from requests import RequestException

    try:
        yield
    except (DockerException, RequestException) as failure:
        raise SandboxError(f"Docker: {what}: {failure}", where="sandbox docker", next="docker info") from None


@functools.cache
def connect(where: str) -> Daemon:
    """Return the daemon at an address, asked once per process. Raises SandboxUnavailable, with the command to type, if
    it cannot make boxes.
    """
    need("docker")
    from docker import APIClient
    from docker.errors import APIError, DockerException
    from requests import RequestException

    try:
        api = APIClient(base_url=where, version="auto", timeout=WAIT)
        info = api.info()
    except (DockerException, RequestException) as failure:
        raise SandboxUnavailable(
            f"no Docker daemon answers at {where}: {failure}",
            where="sandbox docker",
            next=f"{root_command('apt-get install -y docker.io')} && {root_command('systemctl start docker')}",
        ) from None
    options = " ".join(info.get("SecurityOptions") or ())
    for mark, says in (("name=rootless", "runs without root"), ("name=userns", "maps users (userns-remap)")):
        if mark in options:
            raise SandboxUnavailable(
                f"the Docker daemon at {where} {says}, so its containers cannot run as a box's user",
                where="sandbox docker",
                next="use --sandbox bubblewrap, which needs no root",
            )
    counts = bool(info.get("MemoryLimit") and info.get("PidsLimit"))
    return Daemon(where, str(info["ServerVersion"]), counts, api, APIError)


def remove_container(where: str, container: str) -> bool:
    """Remove a container with all its processes and wait for its end; return False if the daemon does not answer."""
    from docker.errors import APIError, DockerException, NotFound
    from requests import RequestException

    try:
        api = connect(where).api
        for again in (True, False):
            try:
                api.remove_container(container, force=True, v=True)
                return True
            except NotFound:
                return True
            except APIError as failure:
                if not again and failure.status_code != 409:
                    raise
            if again:  # not every daemon removes a paused container
                with suppress(APIError):
                    api.unpause(container)
        api.wait(container, condition="removed")  # it is being removed
    except NotFound:
        return True
    except (DockerException, RequestException, SandboxUnavailable):
        return False
    return True


def sweep_containers(where: str) -> list[str]:
    """Remove containers whose creator is dead, even if their folder is gone; return a line for each."""
    removed = []
    with daemon_errors("its containers cannot be listed"):
        for found in connect(where).api.containers(all=True, filters={"label": LABEL}):
            if not owner_of(found["Labels"][LABEL]).is_alive() and remove_container(where, found["Id"]):
                removed.append(f"container {found['Names'][0].lstrip('/')}")
    return removed


def owner_of(text: str) -> BoxOwner:
    """Return who created a container, from its label; an owner that is dead if the label is not ours."""
    try:
        data = json.loads(text)
        return BoxOwner(pid=int(data["pid"]), started=int(data["started"]), here=str(data["here"]))
    except (ValueError, TypeError, KeyError):
        return BoxOwner(pid=0, started=0)
