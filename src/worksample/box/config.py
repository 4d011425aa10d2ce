"""The config of a box: mounts, writable folders, limits. Frozen and hashable, so an Inspect config can hold one."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from worksample.errors import SandboxError

PYTHONS = ("none", "toolbox", "platform")
NETWORKS = ("none", "endpoints")
LOCAL = "localhost"
"""Name of endpoints at a box's own loopback, 127.0.0.1. Only the platform uses it: no task can name it."""
MOST_ENDPOINTS = 200
"""Maximum number of endpoints of one box."""
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
RESERVED = ("/", "/proc", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/run", "/.box")
"""Paths that no mount may replace: they belong to the box itself."""
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label that makes resolvers read the whole name as an address, as in `127.1` or `0x7f000001`."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A bind mount of the host path `source` (file or folder) at the absolute path `target` in the box."""

    source: str
    target: str
    writable: bool = False
    live: bool = False
    """True if the content of the folder changes while the box runs, as a folder of sockets does. Other read-only
    folders may be covered by a layer that hides changes.
    """


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """A host name and TCP port that programs in the box can connect to; the platform answers the connections."""

    name: str
    """A host name in lower case, such as `api.example.com`; never an IP address."""
    port: int

    def __str__(self) -> str:
        return f"{self.name}:{self.port}"


def is_host_name(text: str) -> bool:
    """Return whether a text can be an endpoint's name: letters, digits, hyphens and dots; no address, not the box
    itself.
    """
    last = text.rpartition(".")[2]
    return bool(_HOST.fullmatch(text)) and last not in ("localhost", "worksample") and not _NUMBER.fullmatch(last)


@dataclass(frozen=True, slots=True)
class Root:
    """A root file system (an unpacked image) that replaces the machine's own programs, and how the image asks to be
    run. Changes that a box makes to it stay in the box.
    """

    folder: str
    """Folder on the host with the unpacked files; boxes never change it."""
    over: tuple[str, ...] = ()
    """Folders with changes to those files, in the format of an overlay's upper layer, topmost first."""
    user: int = 0
    """Number of the only user in the box; every file of the image appears as this user's."""
    home: str = "/root"
    workdir: str = ""
    """Working folder of commands that name no other; if empty, the scratch folder."""
    env: tuple[tuple[str, str], ...] = ()
    entrypoint: tuple[str, ...] = ()
    """A program that is started with the box; it must go on by calling its arguments."""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """Limits on what a box may use. Sizes in bytes, times in seconds."""

    memory: int = 2 << 30
    """Memory of all processes together, without the files that they write (see `disk`)."""
    processes: int = 256
    """Number of processes and threads together."""
    disk: int = 1 << 30
    """Size of all writable folders together: output, scratch, home, temporary files, shared memory."""
    files: int = 100_000
    """Number of files and folders in all writable folders together."""
    output: int = 10 << 20
    """Captured standard output and error of one command together; the rest is dropped."""
    time: float | None = None
    """Time limit of a command if the call gives none; None for no limit."""


@dataclass(frozen=True, slots=True)
class BoxConfig:
    """Description of a box. All paths are absolute paths inside the box, except `Mount.source`.

    `python` is "none", "toolbox" (Python with common libraries and without the platform, for agents) or "platform" (the
    platform's own environment, for graders). `network` is "none" or "endpoints".
    """

    mounts: tuple[Mount, ...] = ()
    output: str = "/task/output"
    scratch: str = "/task/scratch"
    writable: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    limits: BoxLimits = BoxLimits()
    network: str = "none"
    endpoints: tuple[Endpoint, ...] = ()
    python: str = "toolbox"
    root: Root | None = None
    """None for the machine's own `/usr`, read-only. With a root, `python` must be "none": an image brings its own."""
    label: str = ""
    background: bool = False
    """True if the box gets processor time only if other programs leave some."""

    def check(self) -> None:
        """Raise SandboxError if the config asks for something that no box can provide."""
        if self.network not in NETWORKS:
            raise SandboxError(
                f'network = "{self.network}" is not supported: a box has no network except named endpoints',
                where="box",
                next='set network = "none" or "endpoints"',
            )
        self._check_endpoints()
        if self.python not in PYTHONS:
            raise SandboxError(
                f'python = "{self.python}" is not supported', where="box", next=f"set python to {', '.join(PYTHONS)}"
            )
        if self.root is not None:
            self._check_root(self.root)
        for target in (self.output, self.scratch, *self.writable, *(mount.target for mount in self.mounts)):
            self._check_target(target)
        seen: set[str] = set()
        for target in (self.output, self.scratch, *self.writable, *(mount.target for mount in self.mounts)):
            if target in seen:
                raise SandboxError(
                    f"{target} is used twice", where="box", next="give each folder and mount a path of its own"
                )
            seen.add(target)
        for key, value in self.env:
            if not key or "=" in key or "\0" in key + value:
                raise SandboxError(
                    f"{key!r} cannot be an environment variable",
                    where="box",
                    next="give it a name without = and NUL, and a value without NUL",
                )

    @property
    def addresses(self) -> dict[str, str]:
        """The loopback address of each endpoint's name inside the box. Every name has its own address, so ports never
        clash.
        """
        names = dict.fromkeys(endpoint.name for endpoint in self.endpoints)
        found = {name: f"127.65.0.{number}" for number, name in enumerate(names, 1)}
        return found | {LOCAL: "127.0.0.1"} if LOCAL in names else found

    @property
    def folder(self) -> str:
        """The working folder of commands, in which relative paths start."""
        return (self.root.workdir if self.root else "") or self.scratch

    def _check_root(self, root: Root) -> None:
        if self.python != "none":
            raise SandboxError(
                "a box with an image as its root uses the image's own Python", where="box", next='set python = "none"'
            )
        if not 0 <= root.user < 1 << 16:
            raise SandboxError(
                f"the image's user {root.user} is not below 65536",
                where="box",
                next="set USER to a smaller number in its Dockerfile",
            )
        for place in (root.home, *([root.workdir] if root.workdir else [])):
            if not place.startswith("/") or posixpath.normpath("/" + place.lstrip("/")) != place or "\0" in place:
                raise SandboxError(
                    f"{place!r} is not a plain absolute path",
                    where="image",
                    next="correct WORKDIR in its Dockerfile, or the home of its user in /etc/passwd",
                )
        for key, value in root.env:
            if not key or "=" in key or "\0" in key + value:
                raise SandboxError(
                    f"{key!r} cannot be an environment variable", where="image", next="correct ENV in its Dockerfile"
                )

    def _check_endpoints(self) -> None:
        if self.endpoints and self.network != "endpoints":
            raise SandboxError(
                "endpoints are given, but the box has no network for them", next='set network = "endpoints"'
            )
        if len(set(self.endpoints)) < len(self.endpoints) or len(self.endpoints) > MOST_ENDPOINTS:
            raise SandboxError(
                f"an endpoint is listed twice, or there are more than {MOST_ENDPOINTS}",
                where="box",
                next=f"list each endpoint once, and at most {MOST_ENDPOINTS}",
            )
        for endpoint in self.endpoints:
            if not (endpoint.name == LOCAL or is_host_name(endpoint.name)) or not 0 < endpoint.port < 1 << 16:
                raise SandboxError(
                    f"{str(endpoint)!r} is not a valid endpoint",
                    where="box",
                    next="give a name such as api.example.com, and a port of 1 to 65535",
                )

    @staticmethod
    def _check_target(target: str) -> None:
        if not target.startswith("/") or posixpath.normpath("/" + target.lstrip("/")) != target or "\0" in target:
            raise SandboxError(
                f"{target!r} is not a plain absolute path",
                where="box",
                next="write the full path from /, without .. and without a slash at the end",
            )
        first = "/" + target.split("/")[1]
        inside = first in RESERVED and first not in ("/usr", "/run", "/etc")
        if target in RESERVED or inside:
            raise SandboxError(
                f"{target} belongs to the box itself and cannot be a mount or folder",
                where="box",
                next="choose another path, such as /srv/data",
            )
