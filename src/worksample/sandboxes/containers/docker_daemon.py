"""The connection to the Docker daemon: its address, its abilities, and its failures as SandboxError."""

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
"""Docker label of every container that the platform creates. The label's value names the creator of the container as
JSON.
"""
WAIT = 120
"""Maximum seconds of one request to the daemon."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """A Docker daemon that answered, with its client and its abilities."""

    url: str
    version: str
    counts: bool
    """Whether the daemon can limit the memory and the number of processes of a container."""
    api: Any
    """The Python client of the daemon. Several threads may use the client at once."""
    api_error: type[Exception]
    """Type of the exception that the client raises if the daemon refuses a request."""


def daemon_url() -> str:
    """Return the address of the Docker daemon: DOCKER_HOST, or Docker's usual socket. Raises SandboxUnavailable if the
    address is not a socket of this machine.
    """
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
    """Raise SandboxError if the daemon refuses a request in the `with` block or stops answering. `what` names the
    operation for the error message.
    """
    from docker.errors import DockerException
    from requests import RequestException

    try:
        yield
    except (DockerException, RequestException) as failure:
        raise SandboxError(f"Docker: {what}: {failure}", where="sandbox docker", next="docker info") from None


@functools.cache
def connect(where: str) -> Daemon:
    """Return the daemon at the address `where`. The daemon is examined only once per process. Raises
    SandboxUnavailable, with the command to type, if the daemon cannot make boxes.
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
    """Remove a container with all its processes and wait until it is gone. Return False if the daemon does not
    answer.
    """
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
    """Remove the containers whose creator is dead, even if a container's folder is gone. Return a line of text for each
    removed container.
    """
    removed = []
    with daemon_errors("its containers cannot be listed"):
        for found in connect(where).api.containers(all=True, filters={"label": LABEL}):
            if not owner_of(found["Labels"][LABEL]).is_alive() and remove_container(where, found["Id"]):
                removed.append(f"container {found['Names'][0].lstrip('/')}")
    return removed


def owner_of(text: str) -> BoxOwner:
    """Return the creator of a container from the container's label. If the label was not written by the platform,
    return an owner that counts as dead.
    """
    try:
        data = json.loads(text)
        return BoxOwner(pid=int(data["pid"]), started=int(data["started"]), here=str(data["here"]))
    except (ValueError, TypeError, KeyError):
        return BoxOwner(pid=0, started=0)
