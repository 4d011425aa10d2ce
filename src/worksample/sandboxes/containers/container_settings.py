"""Docker's settings for the container of a box. The settings use as few of Docker's features as possible."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from worksample.box import BoxConfig
from worksample.sandboxes import bubblewrap_layout as layout
from worksample.sandboxes.in_box import system_calls
from worksample.sandboxes.in_box.container import LINE

PODMAN_PROCESSES = 32768
"""Maximum processes per user under Podman. The value equals the limit of Podman's service and is higher than
`PidsLimit`, the limit of a container.
"""
BESIDE = 32 << 20
"""Bytes of memory that process 1 may need in addition to the memory and files of the box."""


def container(config: BoxConfig, host: layout.BoxHost, image: str, line: str) -> dict[str, Any]:
    """Return the body of the HTTP request that creates the container. `line` is the folder with the socket between the
    exec server and the platform.

    The container starts with the capabilities that the exec server needs to finish the box. The exec server drops them
    before any untrusted program runs.
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
    """Return the part of the exec server's plan that makes a container equal to a bubblewrap box."""
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
    """Return the Linux capabilities of process 1. Capabilities that this machine has removed are left out, because a
    daemon refuses to start a container with them.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    had = int(status.partition("CapBnd:")[2].split()[0], 16)
    lacking = {"SYS_RESOURCE"} if not had >> system_calls.CAP_SYS_RESOURCE & 1 else set()
    return [name for name in layout.BOOT_CAPS if name not in lacking]


def _ulimits() -> list[dict[str, Any]]:
    """Return resource limits that are no higher than the limits of this process. Podman's default limits may be higher
    than this process's, and raising a limit can be forbidden.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, processes = resource.getrlimit(resource.RLIMIT_NPROC)
    most = PODMAN_PROCESSES if processes < 0 else min(processes, PODMAN_PROCESSES)
    return [{"Name": name, "Soft": number, "Hard": number} for name, number in (("nofile", files), ("nproc", most))]


def _binds(config: BoxConfig) -> list[tuple[str, str, bool]]:
    return [(folder, folder, False) for folder in layout.program_folders()[0]] + layout.bind_mounts(config)


def _mount(source: str, target: str, may_write: bool) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": not may_write}
