"""The Linux control groups of a box: they limit memory and the number of processes, freeze processes and set processor
shares.

Version 2 is used if this process may write to it, otherwise version 1. If the kernel allows it, a box's group is
created below the group of this process, so that limits for this process also hold for its boxes.
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
"""Files and values that set the processor share of a background box. Other boxes have the kernel's usual values, 100
for `cpu.weight` and 1024 for `cpu.shares`.

`cpu.idle` is not used: if a machine were busy for minutes, a page that a person waits for would never appear.
"""


USUAL_SHARES = (("cpu.weight", "100"), ("cpu.shares", "1024"))


@dataclass(frozen=True, slots=True)
class CgroupParents:
    """The folders below which the groups of boxes are created. A folder is None if this machine does not let this
    process use the controller.
    """

    memory: Path | None = None
    pids: Path | None = None
    freezer: Path | None = None
    unified: Path | None = None
    """Folder of control groups of version 2. Groups in this folder can freeze and kill processes without any
    controller.
    """
    cpu: Path | None = None

    @property
    def version(self) -> int:
        """Version of the control group that limits memory: 2 or 1; 0 if no group does."""
        if self.memory is None:
            return 0
        return 2 if self.memory == self.unified else 1


def find_parents() -> CgroupParents:
    """Return the folders in which this process may create control groups."""
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
    """Return the mount point of each controller. The key "" stands for version 2."""
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
    """Return the nearest folder, from `start` up to `top`, in which this process can create a usable child group.
    Return None if no folder is usable.
    """
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
    """Return the name of a box's control group.

    `box` begins with the process id of its creator. A process id is only valid in one pid namespace, and containers may
    share control groups without seeing each other's processes. So the name also identifies the pid namespace.
    """
    return f"{PREFIX}{box}-{scratch.process_namespace()}"


def is_orphaned(group: str) -> bool:
    """Return whether the process that created the group is certainly dead."""
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
    """Descriptor of the file that counts out-of-memory kills of the box; -1 until the file is opened."""

    def has_limits(self) -> bool:
        """Return whether the kernel limits both the memory and the number of processes of the box."""
        return self.memory is not None and self.pids is not None


def planned_folders(parents: CgroupParents, name: str) -> tuple[str, ...]:
    """Return every folder in which a box's groups may be created. The folders are recorded before the groups are
    created, so that groups of a killed run can be found.
    """
    folders = (parents.unified, parents.memory, parents.pids, parents.freezer, parents.cpu)
    return tuple(dict.fromkeys(str(parent / group_name(name)) for parent in folders if parent is not None))


def make(parents: CgroupParents, name: str, memory: int, processes: int) -> BoxCgroups:
    """Create the control groups of a box. `memory` is the limit in bytes, `processes` the limit of processes and
    threads together. Groups that cannot be created are left out.
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
    """Give a box a twentieth of the processor share of a normal box, however many sessions its processes open.

    A lower process priority would not suffice: the kernel's autogroups give each session an equal share, and a priority
    counts only within its session.
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
    """Give a background box the processor share of a normal box. If the box has no control group for this, raise the
    priority of its processes instead (possible only for root).
    """
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
    """Put a process and all its future child processes into the box's groups. `pid` is the process id on the host.
    Raises OSError.
    """
    for folder in groups.folders:
        (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")


def of_container(pid: int, name: str) -> BoxCgroups:
    """Return the control groups that a daemon created for a container. `pid` is the host's id of the container's
    process 1. Groups without the container's name are left out, because they may hold processes of other containers.
    """
    mounts, theirs = _mounts(), _groups_of(pid)
    named = {kind: path.lstrip("/") for kind, path in theirs.items() if kind in mounts and name in path}
    found = {kind: mounts[kind] / path for kind, path in named.items()}
    freezer = found.get("freezer")  # if version 1 has a freezer, a group of version 2 cannot freeze
    return BoxCgroups(
        memory=found.get("memory", found.get("")), freezer=freezer, unified=None if freezer else found.get("")
    )


def oom_kills(groups: BoxCgroups) -> int:
    """Return how many processes of the box the kernel has killed for lack of memory, or 0 if no control group counts
    them.
    """
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
    """Open the file that counts out-of-memory kills. The file stays open, because it is read twice for every
    command.
    """
    try:
        return os.open(folder / "memory.events", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(folder / "memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)


def processor_seconds(groups: BoxCgroups) -> float | None:
    """Return the processor seconds that all processes of the box have used, or None if no control group counts them.

    The number includes processes that no parent waited for. The exec server's own numbers lack these processes.
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
    """Freeze or thaw every process of the box and wait until that is done. Return False if the box has no control group
    that can freeze.
    """
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
    """Kill every process in the box's groups. Version 1 cannot kill, so its groups are only thawed."""
    if groups.unified is not None and (groups.unified / "cgroup.kill").exists():
        (groups.unified / "cgroup.kill").write_text("1", encoding="ascii")
    elif groups.freezer is not None:
        (groups.freezer / "freezer.state").write_text("THAWED", encoding="ascii")


def remove(folders: list[Path]) -> None:
    """Remove control groups. Wait briefly for the last processes of the groups to exit."""
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
