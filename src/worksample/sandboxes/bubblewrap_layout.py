"""The layout of a box: its mounts, the bubblewrap command, and the plan by which the exec server finishes the box."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.box import BoxConfig, Mount, Root
from worksample.errors import SandboxError
from worksample.sandboxes import python_toolbox as toolbox
from worksample.sandboxes import seccomp, shared_folders

HOME = "/home/agent"
USER, ROOTLESS_UID = "agent", 1000
IMAGE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Value of the environment variable PATH in a box whose image sets no PATH."""
LOWER, MOUNTS = "/.image", "/.mounts"
"""Folders that hold an image's files (LOWER) and the mounts (MOUNTS) until the exec server switches to the image's
root.
"""
SERVER = "/run/worksample/server"
WATCH_PERIOD = 0.02
"""Seconds between two checks of a box's memory by the watchdog, which limits memory if no control group does."""
BOOT_CAPS = (
    "SYS_ADMIN",
    "CHOWN",
    "FOWNER",
    "DAC_OVERRIDE",
    "SETUID",
    "SETGID",
    "KILL",
    "SETPCAP",
    "SETFCAP",
    "SYS_RESOURCE",
    "NET_BIND_SERVICE",
)
"""Linux capabilities that the exec server needs to finish the box. The exec server drops them afterwards.

SETFCAP is needed to map the exec server's own user id in a namespace. NET_BIND_SERVICE is needed for endpoints at ports
below 1024.
"""
_SHARED = ("/var/cache/fontconfig", "/var/lib/texmf", "/var/lib/ghostscript", "/var/lib/dpkg/status")


@dataclass(frozen=True, slots=True)
class BoxHost:
    """Properties of the host that shape a box: the bubblewrap program, whether root starts it, the user id, and whether
    control groups limit the box.
    """

    bwrap: str
    root: bool
    uid: int
    """User id of the box's commands, as seen inside the box."""
    has_limits: bool


def prepare(config: BoxConfig) -> None:
    """Create the folders on the host that all boxes share. The first call on a machine takes seconds."""
    shared_folders.etc_folder()
    shared_folders.server_folder()
    if config.python == "toolbox":
        toolbox.toolbox_folder()


def environment(config: BoxConfig) -> dict[str, str]:
    """Return the environment variables of every command in the box."""
    if config.root is not None:
        own = {"PATH": IMAGE_PATH, "HOME": config.root.home, "LANG": "C.UTF-8"}
        return {**own, **dict(config.root.env), **dict(config.env)}
    given = {
        "PATH": shared_folders.PATH,
        "HOME": HOME,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "MPLBACKEND": "Agg",
    }
    if config.python == "platform":
        given["PATH"] = f"{Path(toolbox.platform_python()).parent}:{given['PATH']}"
    return {**given, **dict(config.env)}


def writable_folders(config: BoxConfig) -> list[tuple[str, int]]:
    """Return every writable folder of the box with its mode. Parent folders come first."""
    own = [("/dev/shm", 0o1777)]
    if config.root is None:  # an image has these folders itself, perhaps with content
        own += [("/tmp", 0o1777), ("/var/tmp", 0o1777), (HOME, 0o755), ("/opt", 0o755)]
    asked = [(path, 0o755) for path in (config.output, config.scratch, *config.writable)]
    merged = dict(own) | dict(asked)
    return sorted(merged.items(), key=lambda item: item[0].count("/"))


def bind_mounts(config: BoxConfig) -> list[tuple[str, str, bool]]:
    """Return (source, target, writable) for every bind mount of the box. Parent folders come first. Raises SandboxError
    if a source is missing.
    """
    found = [(str(shared_folders.etc_folder()), "/etc", False), (str(shared_folders.server_folder()), SERVER, False)]
    found += [(folder, folder, False) for folder in toolbox.base_folders() if not folder.startswith("/usr")]
    if config.python == "toolbox":
        found.append((str(toolbox.toolbox_folder()), toolbox.TARGET, False))
    elif config.python == "platform":
        found += [(folder, folder, False) for folder in toolbox.platform_folders() if not folder.startswith("/usr/")]
    found += [(path, path, False) for path in _SHARED if Path(path).exists()]
    if config.root is not None:
        found += [(folder, place, False) for folder, place in _layers(config.root)]
    for mount in config.mounts:
        if not Path(mount.source).exists():
            raise SandboxError(
                f"{mount.source} does not exist and cannot be mounted at {mount.target}",
                where="box",
                next=f"mkdir -p {mount.source}, or correct the mount",
            )
        found.append((str(Path(mount.source).absolute()), _staged_target(config, mount), mount.writable))
    return sorted(found, key=lambda bind: bind[1].count("/"))


def _layers(root: Root) -> list[tuple[str, str]]:
    """Return the folders that make up an image's root, the topmost first. Each comes with the path at which it is
    mounted until the exec server switches to the image's root.
    """
    return [*((folder, f"{LOWER}-{number}") for number, folder in enumerate(root.over)), (root.folder, LOWER)]


def masked_folders(config: BoxConfig) -> tuple[str, ...]:
    """Return the folders that the box covers with empty folders: the platform's Python libraries, unless they belong to
    the box's Python.
    """
    if config.root is not None or config.python == "platform":
        return ()
    return toolbox.masked_folders(("/usr", *toolbox.base_folders()))


def _staged_target(config: BoxConfig, mount: Mount) -> str:
    """Return the place of a mount while the box is built: the mount's target, or a staging folder if the box will
    switch to an image's root.
    """
    return f"{MOUNTS}/{config.mounts.index(mount)}" if config.root else mount.target


def _separate_folders(config: BoxConfig, targets: list[str]) -> list[str]:
    """Return the read-only folders that several boxes may share. Folders with another mount below them are left out."""
    return [
        place
        for mount in config.mounts
        if not mount.writable
        and not mount.live
        and Path(mount.source).is_dir()
        and not any(other.startswith((place := _staged_target(config, mount)) + "/") for other in targets)
    ]


NICE_COMMAND = ("/usr/bin/nice", "-n", "19")
"""Command prefix for a background box. With this prefix, the box gets the processor only when nothing else wants it."""


def program_folders() -> tuple[list[str], list[tuple[str, str]]]:
    """Return the host's program folders that a box has at the same path, and the symbolic links with their targets."""
    folders, links = ["/usr"], []
    for name in ("bin", "sbin", "lib", "lib64", "lib32", "libx32"):
        top = Path("/") / name
        if top.is_symlink():
            links.append((str(top), str(top.readlink())))
        elif top.is_dir():
            folders.append(str(top))
    return folders, links


def server_command(module: str, *arguments: str) -> list[str]:
    """Return the command of the box's process 1: the platform's Python interpreter with only the exec server's
    modules.
    """
    code = f"import sys; sys.path.insert(0, {SERVER!r}); from in_box.{module} import main; main()"
    return [str(toolbox.base_python()), "-I", "-S", "-B", "-c", code, *arguments]


def bubblewrap_command(config: BoxConfig, host: BoxHost, socket: int, info: int) -> list[str]:
    """Return the bubblewrap command whose process 1 is the exec server, connected by the descriptor `socket`."""
    words = [*NICE_COMMAND] if config.background else []
    words += [host.bwrap, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if not host.root:
        words += ["--unshare-user", "--uid", "0", "--gid", "0"]
    words += ["--hostname", "worksample", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    words += ["--cap-drop", "ALL"]
    for cap in BOOT_CAPS:
        words += ["--cap-add", f"CAP_{cap}"]
    words += ["--info-fd", str(info)]
    folders, links = program_folders()
    for folder in folders:
        words += ["--ro-bind", folder, folder]
    for link, target in links:
        words += ["--symlink", target, link]
    words += ["--proc", "/proc", "--dev", "/dev", "--dir", "/.box", "--dir", "/run/worksample", "--dir", "/root"]
    made: set[str] = set()
    for source, target, may_write in bind_mounts(config):
        words += _parents(target, made)
        words += ["--bind" if may_write else "--ro-bind", source, target]
    if config.root is not None:
        words += ["--dir", "/.root"]
    for path in masked_folders(config):
        words += ["--tmpfs", path, "--remount-ro", path]
    for path, _ in writable_folders(config):
        words += [*_parents(path, made), "--dir", path]
    return [*words, "--chdir", "/", "--", *server_command("exec_server", str(socket))]


def _parents(target: str, made: set[str]) -> list[str]:
    """Return bubblewrap options that create the folders above `target` so that every user may open them. Folders that
    bubblewrap creates by default are private.
    """
    words: list[str] = []
    parts = target.split("/")
    for depth in range(2, len(parts)):
        folder = "/".join(parts[:depth])
        if folder not in made and not folder.startswith(("/usr", "/dev", "/proc")):
            made.add(folder)
            words += ["--dir", folder]
    return words


def _network_files(config: BoxConfig) -> dict[str, str]:
    """Return the files below /etc that the platform provides because an image cannot. Keys are the files' paths before
    the switch to the image's root.
    """
    own = {"/run/worksample/hostname": "worksample\n", "/run/worksample/resolv.conf": ""}
    return shared_folders.hosts_file(config.addresses) | own


def _image_plan(config: BoxConfig) -> dict[str, Any] | None:
    """Return the plan for the switch to an image's root, or None for a box without an image."""
    if config.root is None:
        return None
    return {
        "lower": ":".join(place for _, place in _layers(config.root)),
        "user": config.root.user,
        "mounts": sorted(
            ((_staged_target(config, mount), mount.target) for mount in config.mounts),
            key=lambda pair: pair[1].count("/"),
        ),
        "made": [config.folder, config.root.home, "/tmp", "/var/tmp"],
        "etc": [posixpath.basename(path) for path in _network_files(config)],
    }


def exec_plan(config: BoxConfig, host: BoxHost) -> dict[str, Any]:
    """Return the plan by which the exec server finishes the box. The plan holds only values that JSON can express."""
    limits = config.limits
    rlimits = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 4096, "RLIMIT_MEMLOCK": 8 << 20}
    if not host.has_limits:
        rlimits |= {"RLIMIT_DATA": 2 * limits.memory, "RLIMIT_NPROC": limits.processes}
    bound = bind_mounts(config)
    targets = [target for _, target, _ in bound]
    return {
        "root": host.root,
        "uid": host.uid if host.root or config.root is None else config.root.user,
        "gid": host.uid if host.root or config.root is None else config.root.user,
        "files": _network_files(config)
        if config.root
        else shared_folders.user_files(host.uid, host.uid, HOME) | shared_folders.hosts_file(config.addresses),
        "disk": limits.disk,
        "files_limit": limits.files,
        "writable": writable_folders(config),
        "targets": targets,
        "shown": [
            target for source, target, _ in bound if target.startswith(LOWER) or not source.startswith(("/usr", "/var"))
        ],
        "owner": os.geteuid(),
        "apart": _separate_folders(config, targets),
        "readonly": ["/dev"] if config.root else ["/dev", "/"],
        "hidden": [] if config.root else ["/.box"],
        "image": _image_plan(config),
        "container": None,
        "endpoints": [(config.addresses[one.name], one.port) for one in config.endpoints],
        "output": config.output,
        "scratch": config.scratch,
        "seccomp": seccomp.program(host.has_limits),
        "rlimits": rlimits,
        "signals": [13, 25],
        "memory": limits.memory,
        "background": config.background,
        "watch": 0.0 if host.has_limits else WATCH_PERIOD,
    }
