"""The last steps of making a box: writable folders, user identity and filters. They run inside the box before any
untrusted program runs.

bubblewrap provides the namespaces and the read-only mounts. This module mounts one tmpfs of limited size and binds its
folders at every writable place, so that one limit holds for all of them. Then the root becomes read-only, and every
privilege that is not needed to start commands is dropped.
"""

# pathlib and contextlib would add a third to the start-up time of a box.
# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH112, PTH120, SIM105

from __future__ import annotations

import os
import resource

from . import dial_server, system_calls
from .id_mapped_mounts import mount_as_user, user_namespace
from .image_root import enter_root, furnish_root

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any


STAGE = "/.box"
ENDPOINT_BACKLOG = 1024
"""Maximum connections to an endpoint that wait to be accepted."""


def boot(plan: dict[str, Any]) -> list[int]:
    """Finish the box as `plan` says. Return these descriptors: the root of the box, its output folder, the connection
    to the dial server, the folder with the changes to an image's root, and the sockets of the endpoints.

    The endpoints' sockets are bound before any untrusted program can use their ports.
    """
    os.umask(0o022)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if plan["container"]:
        from .container_mounts import furnish_container as prepare  # bubblewrap has done this already

        prepare(plan["container"])
    for path, text in plan["files"].items():
        write_text(path, text)
    if plan["root"] and plan["shown"]:
        mount_as_user(plan["shown"], plan["owner"], plan["uid"], plan["gid"])
    for path in plan["apart"]:
        _set_apart(path)
    size, files = plan["disk"], plan["files_limit"]
    system_calls.mount(
        "box",
        STAGE,
        "tmpfs",
        system_calls.MS_NOSUID | system_calls.MS_NODEV,
        f"size={size},nr_inodes={files},mode=0755",
    )
    uid, gid = (plan["uid"], plan["gid"]) if plan["root"] else (0, 0)
    changes = []
    if plan["image"]:
        stage = enter_root(plan["image"], STAGE, uid, gid, plan["root"])
        changes.append(os.open(f"{stage}/upper", os.O_PATH | os.O_DIRECTORY))
        places = [(f"{stage}/{number}", target, mode) for number, (target, mode) in enumerate(plan["writable"])]
        furnish_root(plan["image"], places, uid, gid)
    else:
        _furnish(plan, uid, gid)
    for path in plan["readonly"]:
        system_calls.read_only(path)
    for path in plan["hidden"]:
        system_calls.unmount(path)
    _cover_settings()
    own = _cover_first()
    kept = [os.open("/", os.O_PATH | os.O_DIRECTORY), os.open(plan["output"], os.O_PATH | os.O_DIRECTORY)]
    plan["dial"], far = dial_server.make_line()
    kept.append(far)
    kept += changes
    kept += [endpoint(address, port) for address, port in plan["endpoints"]]
    os.chdir("/" if plan["image"] else plan["scratch"])
    _become(plan, own)
    os.close(own)
    return kept


def _furnish(plan: dict[str, Any], uid: int, gid: int) -> None:
    """Mount the writable folders of a box whose root is the root of the host."""
    for index, (target, mode) in enumerate(plan["writable"]):
        source = f"{STAGE}/{index}"
        os.mkdir(source)
        os.chown(source, uid, gid)
        os.chmod(source, mode)
        _bind(source, target, [path for path in plan["targets"] if path.startswith(target + "/")])


def endpoint(address: str, port: int) -> int:
    """Return the descriptor of a new socket that listens on the box's loopback."""
    import _socket

    own = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    own.bind((address, port))
    own.listen(ENDPOINT_BACKLOG)
    return int(own.detach())


def _set_apart(path: str) -> None:
    """Mount an empty overlay over a shared read-only folder. Its files then have separate inodes in this box, so locks
    and watches on the files do not affect other boxes. If the kernel cannot do this, the folder stays unchanged.
    """
    below = os.open(path, os.O_PATH | os.O_DIRECTORY)
    flags = system_calls.MS_RDONLY | system_calls.MS_NOSUID | system_calls.MS_NODEV
    try:
        system_calls.mount("apart", path, "overlay", flags, f"lowerdir=/proc/self/fd/{below}:{STAGE}")
    except OSError:
        pass
    finally:
        os.close(below)


def _cover_settings() -> None:
    """Make the kernel's settings read-only, including the settings of the box's own namespaces. Cover files that reveal
    properties of the host.
    """
    for name in ("sys", "irq", "bus", "fs", "sysrq-trigger", "scsi", "acpi"):
        path = f"/proc/{name}"
        if os.path.exists(path):
            system_calls.mount(path, path, None, system_calls.MS_BIND | system_calls.MS_REC)
            system_calls.read_only(path)
    for name in ("kcore", "keys", "key-users", "timer_list", "sched_debug", "kallsyms"):
        path = f"/proc/{name}"
        if os.path.exists(path):
            system_calls.mount("/dev/null", path, None, system_calls.MS_BIND)


def _cover_first() -> int:
    """Make the files of process 1 in /proc read-only. This is needed if the platform runs as an ordinary user, because
    commands then run as the same user and could write these files. Return a descriptor of the covered folder,
    through which process 1 can still write.
    """
    path = f"/proc/{os.getpid()}"
    own = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    system_calls.mount(path, path, None, system_calls.MS_BIND | system_calls.MS_REC)
    system_calls.read_only(path)
    return own


def write_text(path: str, text: str, below: int | None = None) -> None:
    """Write a small file, such as a kernel setting. `below` is a descriptor of the folder to which `path` is
    relative.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666, dir_fd=below)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _bind(source: str, target: str, under: list[str]) -> None:
    """Bind a new writable folder at `target`, and restore the mounts below `target` that the new folder covers.

    The folders that lead to a restored mount become read-only mounts, too. A plain folder could be moved away together
    with the mount inside it, and be replaced.
    """
    kept = [(path, os.open(path, os.O_PATH)) for path in sorted(under)]
    system_calls.mount(source, target, None, system_calls.MS_BIND)
    first = set()
    for path, descriptor in kept:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            os.makedirs(path, 0o755, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
        first.add("/".join(path.split("/")[: target.count("/") + 2]))
    for path in first:
        system_calls.mount(path, path, None, system_calls.MS_BIND)
        system_calls.read_only(path)
    for path, descriptor in kept:
        system_calls.mount(f"/proc/self/fd/{descriptor}", path, None, system_calls.MS_BIND | system_calls.MS_REC)
        os.close(descriptor)


def _become(plan: dict[str, Any], own: int) -> None:
    """Drop the privileges that are no longer needed. If the platform runs as root, keep only the privileges to switch
    to the agent's user and to kill its processes.

    `own` is a writable descriptor of this process's folder in /proc.
    """
    try:
        write_text("loginuid", str(plan["uid"] if plan["root"] else 0), own)
    except OSError:
        pass  # not supported, or already set: either way no command can set it
    if plan["root"]:
        if plan["image"]:
            # Each command enters it before it is filtered: the filter would refuse that.
            plan["space"] = user_namespace(plan["image"]["user"], plan["uid"], plan["gid"])
        kept = [system_calls.CAP_KILL, system_calls.CAP_SETGID, system_calls.CAP_SETUID]
        try:
            write_text("oom_score_adj", "-998", own)
            kept.append(
                system_calls.CAP_SYS_RESOURCE
            )  # each child uses it to raise its own score for good, and then drops it
        except PermissionError:
            pass  # root without CAP_SYS_RESOURCE: only the commands' score of 1000 has them killed first
        system_calls.drop_bounding()
        system_calls.capabilities(tuple(kept))
    else:
        system_calls.unshare(system_calls.CLONE_NEWUSER)
        write_text("setgroups", "deny", own)
        write_text("gid_map", f"{plan['gid']} 0 1", own)
        write_text("uid_map", f"{plan['uid']} 0 1", own)
        system_calls.drop_bounding()
        system_calls.capabilities(())
    system_calls.prctl(system_calls.PR_SET_DUMPABLE, 0)
    if "space" not in plan:
        system_calls.seccomp(plan["seccomp"])
