"""Checks whether this machine can run boxes, and the command that installs what is missing."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.sandboxes import cgroups
from worksample.sudo_command import root_command


@dataclass(frozen=True, slots=True)
class Availability:
    """The answer whether this machine can run boxes. If `reason` is not empty, boxes are unavailable, and `next` is the
    command that makes them available.
    """

    bwrap: str
    version: str
    root: bool
    """True if root makes the boxes, each with a user id of its own. False if an ordinary user makes boxes in a user
    namespace.
    """
    user_namespaces: bool
    cgroup: int
    """Version of the control groups that limit a box's memory and processes: 2 or 1; 0 if a watchdog limits them
    instead.
    """
    freezer: str
    """How a box is frozen: "cgroup2", "cgroup1" or "signals"."""
    openat2: bool
    disk: str
    toolbox: bool
    """Whether all libraries for agents are installed."""
    parents: cgroups.CgroupParents
    reason: str = ""
    next: str = ""

    def __bool__(self) -> bool:
        return not self.reason


@functools.cache
def available() -> Availability:
    """Return whether this machine can run boxes, and how. The machine is examined only once per process."""
    import importlib.util

    from worksample.sandboxes.python_toolbox import OFFERED

    from .box_files_on_host import has_openat2

    bwrap = shutil.which("bwrap") or ""
    root = os.geteuid() == 0
    parents = cgroups.find_parents()
    version = reason = line = ""
    if not bwrap:
        reason, line = "bubblewrap is not installed", root_command("apt-get install bubblewrap")
    else:
        version = _output([bwrap, "--version"]).removeprefix("bubblewrap").strip()
        reason, line = _try_bubblewrap(bwrap, root)
    openat2 = has_openat2()
    if not reason and not openat2:
        reason, line = "the kernel is older than 5.6 and has no openat2", "upgrade the kernel"
    modules = {"pillow": "PIL", "ipython": "IPython"}
    freezer = "cgroup2" if parents.unified else "cgroup1" if parents.freezer else "signals"
    return Availability(
        bwrap=bwrap,
        version=version,
        root=root,
        user_namespaces=_user_namespaces(),
        cgroup=parents.version if parents.memory and parents.pids else 0,
        freezer=freezer,
        openat2=openat2,
        disk="one tmpfs of limited size and number of files per box",
        toolbox=all(importlib.util.find_spec(modules.get(name, name)) for name in OFFERED),
        parents=parents,
        reason=reason,
        next=line,
    )


def require_bubblewrap() -> Availability:
    """Return `available()`. Raises SandboxUnavailable, with the command to type, if this machine cannot run boxes."""
    found = available()
    if found.reason:
        raise SandboxUnavailable(found.reason, where="sandbox", next=found.next)
    return found


def require_kind(kind: str) -> str:
    """Return the version of the program that makes boxes of this kind, or "" for a kind that needs no program. Raises
    SandboxUnavailable, with the command to type, if the program cannot be used; MissingExtra if the program's Python
    client is not installed.
    """
    if kind == "docker":
        from worksample.sandboxes.containers.docker_daemon import connect, daemon_url

        return connect(daemon_url()).version
    return require_bubblewrap().version if kind == "bubblewrap" else ""


def _output(words: list[str]) -> str:
    return subprocess.run(
        words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace"
    ).stdout


def _try_bubblewrap(bwrap: str, root: bool) -> tuple[str, str]:
    """Start the smallest possible box. Return the reason why the box failed and the command to type, or two empty
    strings if it started.
    """
    words = [bwrap, "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc"]
    words += [] if root else ["--unshare-user", "--uid", "0", "--gid", "0"]
    done = subprocess.run(
        [*words, "true"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode == 0:
        return "", ""
    said = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
    reason = f"bubblewrap cannot start here: {said}"
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return reason, root_command("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return reason, root_command("sysctl -w kernel.unprivileged_userns_clone=1")
    if _setting("user/max_user_namespaces") == "0":
        return reason, root_command("sysctl -w user.max_user_namespaces=10000")
    return reason, "bwrap --unshare-user --unshare-pid --ro-bind / / --proc /proc true"


def _user_namespaces() -> bool:
    limits = (_setting("user/max_user_namespaces"), _setting("kernel/unprivileged_userns_clone"))
    return Path("/proc/self/ns/user").exists() and "0" not in limits


def _setting(name: str) -> str:
    try:
        return Path(f"/proc/sys/{name}").read_text(encoding="ascii").strip()
    except OSError:
        return ""
