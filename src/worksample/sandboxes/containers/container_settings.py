"""Settings of a container for a box's config: as few of Docker's features as possible."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from worksample.box import BoxConfig
from worksample.sandboxes import bubblewrap_layout as layout
from worksample.sandboxes.in_box import system_calls
from worksample.sandboxes.in_box.container import LINE

PODMAN_PROCESSES = 32768
"""Process limit per user under Podman: what its service has itself, and more than `PidsLimit` allows."""
BESIDE = 32 << 20
"""Bytes that process 1 may need in addition to the box's memory and files."""


def container(config: BoxConfig, host: layout.BoxHost, image: str, line: str) -> dict[str, Any]:
    """Return the body of the request that creates the container. `line`: the folder with our socket.

    The container starts with the rights that the exec server needs to finish the box and then drops; nothing untrusted
    runs before.
    """
    limits = config.limits
    memory = limits.memory + limits.disk + BESIDE
    held = {"Memory": memory, "MemorySwap": memory, "PidsLimit": limits.processes + 1} if host.has_limits else {}
    nice = [*layout.NICE_COMMAND] if config.background else []
    return {
        "Image": image,
        "Hostname": "worksample",
        "User": "0:0",
        "WorkingDir": "/",
        "Env": [],
        "Cmd": [*nice, *layout.server_command("container")],
        "Entrypoint": [],
        "NetworkDisabled": True,
        "HostConfig": {
            **held,
            "CpuShares": 2 if config.background else 0,
            "Mounts": [_mount(*bind) for bind in _binds(config)] + [_mount(line, LINE, True)],
            "NetworkMode": "none",
            "IpcMode": "private",
            "CgroupnsMode": "private",
            "CapDrop": ["ALL"],
            "CapAdd": _capabilities(),
            "SecurityOpt": ["seccomp=unconfined", "apparmor=unconfined", "label=disable"],
            "Sysctls": {"net.ipv4.ip_unprivileged_port_start": "1024"},
            "LogConfig": {"Type": "none"},
            "Ulimits": _ulimits(),
            "AutoRemove": True,
        },
    }


def furnishing(config: BoxConfig) -> dict[str, Any]:
    """Return what the exec server must do to make the container equal to a bubblewrap box."""
    binds = _binds(config)
    targets = [target for _, target, _ in binds]
    more = ["/.box", "/root", *(["/.root"] if config.root else [])]
    return {
        "shown": targets,
        "kept": ["/proc", "/dev", "/dev/pts", *targets],
        "theirs": ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"],
        "folders": [*more, *(path for path, _ in layout.writable_folders(config))],
        "readonly": [target for _, target, may_write in binds if not may_write],
        "masked": list(layout.masked_folders(config)),
    }


def _capabilities() -> list[str]:
    """Return the capabilities of process 1. A daemon starts nothing with a capability that this machine has removed."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    had = int(status.partition("CapBnd:")[2].split()[0], 16)
    lacking = {"SYS_RESOURCE"} if not had >> system_calls.CAP_SYS_RESOURCE & 1 else set()
    return [name for name in layout.BOOT_CAPS if name not in lacking]


def _ulimits() -> list[dict[str, Any]]:
    """Return limits no higher than this process's own. Podman's defaults may be higher, and raising them can be
    forbidden.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, processes = resource.getrlimit(resource.RLIMIT_NPROC)
    most = PODMAN_PROCESSES if processes < 0 else min(processes, PODMAN_PROCESSES)
    return [{"Name": name, "Soft": number, "Hard": number} for name, number in (("nofile", files), ("nproc", most))]


def _binds(config: BoxConfig) -> list[tuple[str, str, bool]]:
    return [(folder, folder, False) for folder in layout.program_folders()[0]] + layout.bind_mounts(config)


def _mount(source: str, target: str, may_write: bool) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": not may_write}
