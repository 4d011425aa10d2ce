"""What a box is made of: mounts, writable folders, limits. Frozen and hashable, so a config can name its box."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from worksample.errors import SandboxError

PYTHONS = ("none", "toolbox", "platform")
RESERVED = ("/", "/proc", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/run", "/.box")
"""What a mount may not replace: the box's own parts."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A bind of the host path `source` (file or folder) at the absolute path `target` in the box."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """What a box may use. Sizes in bytes, times in seconds."""

    memory: int = 2 << 30
    """Memory of all processes together, without the files they write (see `disk`)."""
    processes: int = 256
    """Processes and threads together."""
    disk: int = 1 << 30
    """Everything writable together: output, scratch, home, temporary files, shared memory."""
    files: int = 100_000
    """Files and folders in everything writable together."""
    output: int = 10 << 20
    """Captured standard output and error of one command, together; what comes after is dropped."""
    time: float | None = None
    """How long one command may take when the call does not say; None is no limit."""


@dataclass(frozen=True, slots=True)
class BoxConfig:
    """A box. All paths are absolute paths inside the box, but for `Mount.source`.

    `python` is "none", "toolbox" (Python with common libraries and without the platform, for agents) or "platform"
    (the platform's own environment, for graders). `network` is "none": nothing else is offered yet.
    """

    mounts: tuple[Mount, ...] = ()
    output: str = "/task/output"
    scratch: str = "/task/scratch"
    writable: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    limits: BoxLimits = BoxLimits()
    network: str = "none"
    python: str = "toolbox"
    label: str = ""
    background: bool = False
    """Its processes get what of the processors others leave."""

    def check(self) -> None:
        """Raise SandboxError when the config asks for what no box can give."""
        if self.network != "none":
            raise SandboxError(
                f'network = "{self.network}" is not offered: a box has no network',
                where="box",
                next='set network = "none"',
            )
        if self.python not in PYTHONS:
            raise SandboxError(f'python = "{self.python}" is none of {", ".join(PYTHONS)}', where="box")
        for target in (self.output, self.scratch, *self.writable, *(mount.target for mount in self.mounts)):
            self._check_target(target)
        seen: set[str] = set()
        for target in (self.output, self.scratch, *self.writable, *(mount.target for mount in self.mounts)):
            if target in seen:
                raise SandboxError(f"{target} is given twice", where="box")
            seen.add(target)
        for key, value in self.env:
            if not key or "=" in key or "\0" in key + value:
                raise SandboxError(f"{key!r} cannot be an environment variable", where="box")

    @staticmethod
    def _check_target(target: str) -> None:
        if not target.startswith("/") or posixpath.normpath(target) != target or "\0" in target:
            raise SandboxError(f"{target!r} is not a plain absolute path", where="box")
        first = "/" + target.split("/")[1]
        inside = first in RESERVED and first not in ("/usr", "/run", "/etc")
        if target in RESERVED or inside:
            raise SandboxError(f"{target} belongs to the box itself and cannot be mounted over", where="box")
