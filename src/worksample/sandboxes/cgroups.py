"""Control groups of a box: memory, number of processes, freezing, processor shares.

Uses version 2 if it is writable, else version 1. A box's group is created below this process's own group if the kernel
allows that, so that limits set for this process hold for its boxes too.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from worksample.files import scratch_folder as scratch

ROOT = Path("/sys/fs/cgroup")
PREFIX = "worksample-"
_OOM_KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)
LOW_SHARES = (("cpu.weight", "5"), ("cpu.shares", "51"))
"""Processor share of a background box; all others have 100 or 1024. Not `cpu.idle`: on a machine that is busy for
minutes, a page that a person waits for would never appear.
"""


USUAL_SHARES = (("cpu.weight", "100"), ("cpu.shares", "1024"))


@dataclass(frozen=True, slots=True)
class CgroupParents:
    """Folders in which a box's groups are created; None for each controller that this machine does not let us use."""

    memory: Path | None = None
    pids: Path | None = None
    freezer: Path | None = None
    unified: Path | None = None
    """A version 2 folder: freezing and killing need no controller."""
    cpu: Path | None = None

    @property
    def version(self) -> int:
        """Version of the group that limits memory: 2, 1, or 0 for none."""
        if self.memory is None:
            return 0
        return 2 if self.memory == self.unified else 1


def find_parents() -> CgroupParents:
    """Find the folders in which this process may create groups."""
    own = _groups_of("self")
    mounts = _mounts()
    unified = None
    if "" in mounts:
        unified = _writable(mounts[""] / own.get("", "").lstrip("/"), mounts[""], ())
        full = _writable(mounts[""] / own.get("", "").lstrip("/"), mounts[""], ("memory", "pids"))
        if full:
            given = (full / "cgroup.subtree_control").read_text(encoding="ascii").split()
            return CgroupParents(full, full, full, full, full if "cpu" in given else None)
    found = {
        name: _writable(mounts[name] / own.get(name, "").lstrip("/"), mounts[name], None)
        for name in ("memory", "pids", "freezer", "cpu")
        if name in mounts
    }
    return CgroupParents(found.get("memory"), found.get("pids"), found.get("freezer"), unified, found.get("cpu"))


def _groups_of(pid: int | str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            groups[name] = path
    return groups


def _mounts() -> dict[str, Path]:
    """Return mount points by controller; "" is version 2."""
    mounts: dict[str, Path] = {}
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, target, kind, options, *_ = line.split(" ")
        if kind == "cgroup2":
            mounts[""] = Path(target)
        elif kind == "cgroup":
            for name in {"memory", "pids", "freezer", "cpu"} & set(options.split(",")):
                mounts[name] = Path(target)
    return mounts


def _writable(start: Path, top: Path, controllers: tuple[str, ...] | None) -> Path | None:
    """Return the nearest folder from `start` up to `top` in which a usable child group can be created."""
    folder = start if start.is_dir() else top
    while True:
        if _can_make(folder, controllers):
            return folder
        if folder == top or top not in folder.parents:
            return None
        folder = folder.parent


def _can_make(folder: Path, controllers: tuple[str, ...] | None) -> bool:
    if controllers:
        try:
            given = (folder / "cgroup.subtree_control").read_text(encoding="ascii").split()
        except OSError:
            return False
        if not set(controllers) <= set(given):
            return False
    trial = folder / group_name(f"{os.getpid()}-trial")
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        return os.access(trial / "cgroup.procs", os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
    finally:
        with suppress(FileNotFoundError):
            trial.rmdir()


def group_name(box: str) -> str:
    """Return the name of a box's group. `box` begins with its creator's process id, which is only valid in one pid
    namespace: containers may share control groups without seeing each other's processes.
    """
    return f"{PREFIX}{box}-{scratch.process_namespace()}"


def is_orphaned(group: str) -> bool:
    """Return whether the creator of a group with this name is known to be dead."""
    pid, *rest = group.removeprefix(PREFIX).split("-")
    here = len(rest) < 2 or rest[-1] == str(scratch.process_namespace())
    return here and pid.isdigit() and scratch.started_at(int(pid)) == 0


@dataclass(slots=True)
class BoxCgroups:
    """The control groups of one box."""

    memory: Path | None = None
    pids: Path | None = None
    freezer: Path | None = None
    unified: Path | None = None
    folders: list[Path] = field(default_factory=list)
    events: int = -1
    """Descriptor of the file that counts out-of-memory kills, once it was opened."""

    def has_limits(self) -> bool:
        """Return whether the kernel limits both memory and processes."""
        return self.memory is not None and self.pids is not None


def planned_folders(parents: CgroupParents, name: str) -> tuple[str, ...]:
    """Return every folder in which a box's groups may be created, to be recorded before they are."""
    folders = (parents.unified, parents.memory, parents.pids, parents.freezer, parents.cpu)
    return tuple(dict.fromkeys(str(parent / group_name(name)) for parent in folders if parent is not None))


def make(parents: CgroupParents, name: str, memory: int, processes: int) -> BoxCgroups:
    """Create a box's groups with their limits (bytes; processes and threads). Groups that cannot be created are left
    out.
    """
    groups = BoxCgroups()
    for kind in ("unified", "memory", "pids", "freezer"):
        parent: Path | None = getattr(parents, kind)
        if parent is None or (kind == "freezer" and groups.unified is not None):
            continue
        folder = parent / group_name(name)
        try:
            folder.mkdir(exist_ok=True)
            if kind == "memory":
                _limit_memory(folder, memory)
            elif kind == "pids":
                (folder / "pids.max").write_text(str(processes), encoding="ascii")
        except OSError:
            _remove(folder)
            continue
        if folder not in groups.folders:
            groups.folders.append(folder)
        setattr(groups, kind, folder)
    return groups


def _limit_memory(folder: Path, memory: int) -> None:
    if (folder / "memory.max").exists():
        (folder / "memory.max").write_text(str(memory), encoding="ascii")
        swap = folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0", encoding="ascii")
        return
    (folder / "memory.limit_in_bytes").write_text(str(memory), encoding="ascii")
    both = folder / "memory.memsw.limit_in_bytes"
    if both.exists():
        both.write_text(str(memory), encoding="ascii")


def lower_share(parents: CgroupParents, groups: BoxCgroups, name: str) -> None:
    """Give a box a twentieth of the processor beside a competing one, whatever sessions its processes open.

    The kernel's autogroups give each session the same share, and a process's own priority counts only within its
    session.
    """
    if parents.cpu is None:
        return
    folder = parents.cpu / group_name(name)
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return
    if folder not in groups.folders:
        groups.folders.append(folder)
    for setting, value in LOW_SHARES:
        with suppress(OSError):
            if (folder / setting).exists():
                (folder / setting).write_text(value, encoding="ascii")
                return


def restore_share(groups: BoxCgroups, name: str) -> None:
    """Give a box the usual share. If it has no group for that, raise its processes' priority (root only)."""
    for folder in groups.folders:
        for setting, value in USUAL_SHARES:
            if folder.name == group_name(name) and (folder / setting).exists():
                with suppress(OSError):
                    (folder / setting).write_text(value, encoding="ascii")
                    return
    for pid in {pid for folder in groups.folders for pid in _members(folder)}:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, 0)
            Path(f"/proc/{pid}/autogroup").write_text("0", encoding="ascii")


def _members(folder: Path) -> list[int]:
    try:
        return [int(word) for word in (folder / "cgroup.procs").read_text(encoding="ascii").split()]
    except OSError:
        return []


def join(groups: BoxCgroups, pid: int) -> None:
    """Put a process (host pid) and all that it will start into the box's groups. Raises OSError."""
    for folder in groups.folders:
        (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")


def of_container(pid: int, name: str) -> BoxCgroups:
    """Return the groups that a daemon created for a container, found by its process 1 (host pid). Groups without the
    container's name are left out, since others may be in them.
    """
    mounts, theirs = _mounts(), _groups_of(pid)
    named = {kind: path.lstrip("/") for kind, path in theirs.items() if kind in mounts and name in path}
    found = {kind: mounts[kind] / path for kind, path in named.items()}
    freezer = found.get("freezer")  # if version 1 has a freezer, a group of version 2 cannot freeze
    return BoxCgroups(
        memory=found.get("memory", found.get("")), freezer=freezer, unified=None if freezer else found.get("")
    )


def oom_kills(groups: BoxCgroups) -> int:
    """Return how often the kernel killed a process of the box for lack of memory; 0 if nothing counts it."""
    if groups.memory is None:
        return 0
    try:
        if groups.events < 0:
            groups.events = _open_events(groups.memory)
        text = os.pread(groups.events, 4096, 0)
    except OSError:
        return 0
    found = _OOM_KILLS.search(text)
    return int(found[1]) if found else 0


def _open_events(folder: Path) -> int:
    """Open the file that counts out-of-memory kills. It stays open, since it is read twice for every command."""
    try:
        return os.open(folder / "memory.events", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(folder / "memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)


def processor_seconds(groups: BoxCgroups) -> float | None:
    """Return the processor seconds of all processes of the box; None if nothing counts them.

    Includes processes that nobody waited for, which the box's own accounts lack.
    """
    for folder in {*groups.folders, *filter(None, (groups.unified, groups.memory))}:
        with suppress(OSError, ValueError):
            if (folder / "cpu.stat").exists():
                found = dict(line.split() for line in (folder / "cpu.stat").read_text(encoding="ascii").splitlines())
                if "usage_usec" in found:
                    return int(found["usage_usec"]) / 1e6
            if (folder / "cpuacct.usage").exists():
                return int((folder / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
    return None


def close(groups: BoxCgroups) -> None:
    """Close the descriptors of the groups."""
    if groups.events >= 0:
        descriptor, groups.events = groups.events, -1
        os.close(descriptor)


def freeze(groups: BoxCgroups, frozen: bool) -> bool:
    """Freeze or thaw every process of the box and wait until that is done; return False if no group can."""
    if groups.unified is not None:
        (groups.unified / "cgroup.freeze").write_text("1" if frozen else "0", encoding="ascii")
        events, wanted = groups.unified / "cgroup.events", f"frozen {int(frozen)}"
    elif groups.freezer is not None:
        state = "FROZEN" if frozen else "THAWED"
        (groups.freezer / "freezer.state").write_text(state, encoding="ascii")
        events, wanted = groups.freezer / "freezer.state", state
    else:
        return False
    for _ in range(5000):
        if wanted in events.read_text(encoding="ascii"):
            return True
        time.sleep(0.001)
    raise OSError(f"the control group {events.parent} did not reach the state {wanted!r} in time")


def kill(groups: BoxCgroups) -> None:
    """Kill every process in the box's groups, or thaw them if only version 1 is there."""
    if groups.unified is not None and (groups.unified / "cgroup.kill").exists():
        (groups.unified / "cgroup.kill").write_text("1", encoding="ascii")
    elif groups.freezer is not None:
        (groups.freezer / "freezer.state").write_text("THAWED", encoding="ascii")


def remove(folders: list[Path]) -> None:
    """Remove groups, waiting briefly for their last processes to die."""
    for folder in folders:
        _remove(folder)


def _remove(folder: Path) -> None:
    for _ in range(500):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.002)
        else:
            return
