"""Control groups of a box: memory, number of processes, freezing, shares of the processors.

Version 2 where it may be written, else version 1. A box's group is made below the group of this process wherever the
kernel allows it, so that limits set over us hold for boxes too.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from worksample.files import scratch

ROOT = Path("/sys/fs/cgroup")
PREFIX = "worksample-"
_OOM_KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)
LAST = (("cpu.weight", "5"), ("cpu.shares", "51"))
"""Of a box in the background, where all others have 100 or 1024: not `cpu.idle`, under which a view that a person waits
for would not come at all on a machine that is busy for minutes."""


USUAL = (("cpu.weight", "100"), ("cpu.shares", "1024"))


@dataclass(frozen=True, slots=True)
class Parents:
    """The folders in which a box's groups are made; None where this machine has no such control for us."""

    memory: Path | None = None
    pids: Path | None = None
    freezer: Path | None = None
    unified: Path | None = None
    """A version 2 folder: freezing and killing need no controller."""
    cpu: Path | None = None

    @property
    def version(self) -> int:
        """Of the group that limits memory: 2, 1, or 0 for none."""
        if self.memory is None:
            return 0
        return 2 if self.memory == self.unified else 1


def find_parents() -> Parents:
    """Look where this process may make groups."""
    own = _groups_of("self")
    mounts = _mounts()
    unified = None
    if "" in mounts:
        unified = _writable(mounts[""] / own.get("", "").lstrip("/"), mounts[""], ())
        full = _writable(mounts[""] / own.get("", "").lstrip("/"), mounts[""], ("memory", "pids"))
        if full:
            given = (full / "cgroup.subtree_control").read_text(encoding="ascii").split()
            return Parents(full, full, full, full, full if "cpu" in given else None)
    found = {
        name: _writable(mounts[name] / own.get(name, "").lstrip("/"), mounts[name], None)
        for name in ("memory", "pids", "freezer", "cpu")
        if name in mounts
    }
    return Parents(found.get("memory"), found.get("pids"), found.get("freezer"), unified, found.get("cpu"))


def _groups_of(pid: int | str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            groups[name] = path
    return groups


def _mounts() -> dict[str, Path]:
    """Mount points by controller; "" is version 2."""
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
    """The nearest folder from `start` up to `top` in which a usable child group can be made."""
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
    trial = folder / named(f"{os.getpid()}-trial")
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        return os.access(trial / "cgroup.procs", os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
    finally:
        with suppress(FileNotFoundError):
            trial.rmdir()


def named(box: str) -> str:
    """The name of a box's group. `box` begins with the number of its maker's process, which counts in one namespace:
    containers may share control groups, and none knows who lives in another.
    """
    return f"{PREFIX}{box}-{scratch.process_namespace()}"


def is_left(group: str) -> bool:
    """Whether the maker of a group with this name is known to be dead."""
    pid, *rest = group.removeprefix(PREFIX).split("-")
    here = len(rest) < 2 or rest[-1] == str(scratch.process_namespace())
    return here and pid.isdigit() and scratch.started_at(int(pid)) == 0


@dataclass(slots=True)
class Groups:
    """The groups of one box."""

    memory: Path | None = None
    pids: Path | None = None
    freezer: Path | None = None
    unified: Path | None = None
    folders: list[Path] = field(default_factory=list)
    events: int = -1
    """The descriptor of the file that counts processes ended for want of memory, once it was asked."""

    def counted(self) -> bool:
        """Whether memory and processes are both held by the kernel."""
        return self.memory is not None and self.pids is not None


def places(parents: Parents, name: str) -> tuple[str, ...]:
    """Every folder that a box's groups may be made at: what is noted before they are."""
    folders = (parents.unified, parents.memory, parents.pids, parents.freezer, parents.cpu)
    return tuple(dict.fromkeys(str(parent / named(name)) for parent in folders if parent is not None))


def make(parents: Parents, name: str, memory: int, processes: int) -> Groups:
    """Make a box's groups with their limits (bytes; processes and threads). What cannot be made is left out."""
    groups = Groups()
    for kind in ("unified", "memory", "pids", "freezer"):
        parent: Path | None = getattr(parents, kind)
        if parent is None or (kind == "freezer" and groups.unified is not None):
            continue
        folder = parent / named(name)
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


def give_way(parents: Parents, groups: Groups, name: str) -> None:
    """Have the box get a twentieth of the processor beside one that wants it, whatever sessions its processes open.

    The kernel's autogroups give each session the same share, and a process's own priority counts within its session.
    """
    if parents.cpu is None:
        return
    folder = parents.cpu / named(name)
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return
    if folder not in groups.folders:
        groups.folders.append(folder)
    for setting, value in LAST:
        with suppress(OSError):
            if (folder / setting).exists():
                (folder / setting).write_text(value, encoding="ascii")
                return


def stop_giving_way(groups: Groups, name: str) -> None:
    """Give the box the share that others have. Where it has no group for that, raise its processes' own priority, which
    root may do."""
    for folder in groups.folders:
        for setting, value in USUAL:
            if folder.name == named(name) and (folder / setting).exists():
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


def join(groups: Groups, pid: int) -> None:
    """Put a process (host pid), and all it will start, into the box's groups. Raises OSError."""
    for folder in groups.folders:
        (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")


def of_container(pid: int, name: str) -> Groups:
    """The groups that a daemon made for a container, from its process 1 (host pid); none that does not bear its name,
    since others may be in it."""
    mounts, theirs = _mounts(), _groups_of(pid)
    named = {kind: path.lstrip("/") for kind, path in theirs.items() if kind in mounts and name in path}
    found = {kind: mounts[kind] / path for kind, path in named.items()}
    freezer = found.get("freezer")  # beside one of version 1, a group of version 2 freezes and thaws nothing
    return Groups(
        memory=found.get("memory", found.get("")), freezer=freezer, unified=None if freezer else found.get("")
    )


def oom_kills(groups: Groups) -> int:
    """How often the kernel ended a process of the box for want of memory; 0 where nobody counts."""
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
    """Kept open: it is read twice for every command of a box."""
    try:
        return os.open(folder / "memory.events", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(folder / "memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)


def processor_seconds(groups: Groups) -> float | None:
    """Seconds of the processors that all processes of the box have had; None where nobody counts.

    It has those of processes that nobody waited for, too, which a box's own accounts lack.
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


def close(groups: Groups) -> None:
    """Read nothing of them any more."""
    if groups.events >= 0:
        descriptor, groups.events = groups.events, -1
        os.close(descriptor)


def freeze(groups: Groups, frozen: bool) -> bool:
    """Freeze or thaw every process of the box; False where no group can. Blocks until it is so."""
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
    raise OSError(f"{events.parent} did not become {wanted}")


def kill(groups: Groups) -> None:
    """End every process in the box's groups."""
    if groups.unified is not None and (groups.unified / "cgroup.kill").exists():
        (groups.unified / "cgroup.kill").write_text("1", encoding="ascii")
    elif groups.freezer is not None:
        (groups.freezer / "freezer.state").write_text("THAWED", encoding="ascii")


def remove(folders: list[Path]) -> None:
    """Remove groups; a group empties a moment after its last process has died."""
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
