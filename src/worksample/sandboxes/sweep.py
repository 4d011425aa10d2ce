"""Removing what killed runs left behind: processes, control groups, folders of boxes whose maker is dead."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
from pathlib import Path

from worksample.sandboxes import cgroups

from .host_state import Owner, read_owner, runtime_folder, started_at

_LOCK = threading.Lock()
_SWEPT: set[Path] = set()


def sweep() -> list[str]:
    """Remove the remains of every box whose maker is dead; return a line for each. Living boxes are not touched."""
    removed: list[str] = []
    for kind in ("boxes", "plain", "containers"):
        for folder in sorted((runtime_folder() / kind).glob("*")):
            owner = read_owner(folder) or _unwritten(folder)
            if owner.alive():
                continue
            if owner.of_this_boot():
                _end(owner)
            if owner.container and not _without_container(owner):
                continue  # its daemon does not answer now
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(f"{folder.name} {owner.label}".strip())
    return removed + _nameless_groups()


def sweep_first() -> None:
    """Sweep before the first box of this process: a killed run's remains last until the next run, and no longer."""
    folder = runtime_folder()
    with _LOCK:
        if folder not in _SWEPT:
            _SWEPT.add(folder)
            sweep()


def _without_container(owner: Owner) -> bool:
    """Whether the daemon has no container of the box any more."""
    from worksample.sandboxes.containers.daemon import remove

    return remove(owner.daemon, owner.container)


def _nameless_groups() -> list[str]:
    """Empty control groups of makers that are dead and whose folder is gone too."""
    parents = cgroups.find_parents()
    removed = []
    for parent in {parents.memory, parents.pids, parents.freezer, parents.unified, parents.cpu} - {None}:
        for group in sorted(parent.glob(f"{cgroups.PREFIX}[0-9]*-*")) if parent else ():
            pid = int(group.name.removeprefix(cgroups.PREFIX).split("-")[0])
            if started_at(pid) == 0:
                with contextlib.suppress(OSError):
                    group.rmdir()
                    removed.append(f"control group {group}")
    return removed


def _unwritten(folder: Path) -> Owner:
    """The owner of a folder without an owner file, from its name."""
    pid = folder.name.split("-")[0]
    number = int(pid) if pid.isdigit() else 0
    return Owner(pid=number, started=started_at(number))


def _end(owner: Owner) -> None:
    groups = [Path(folder) for folder in owner.groups]
    for folder in groups:
        for name, text in (("cgroup.kill", "1"), ("freezer.state", "THAWED")):
            if (folder / name).exists():
                with contextlib.suppress(OSError):
                    (folder / name).write_text(text, encoding="ascii")
    for pid, started in ((owner.child, owner.child_started), (owner.holder, owner.holder_started)):
        if pid and started and started_at(pid) == started:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # a container's is the daemon's
                os.kill(pid, signal.SIGKILL)
    if not owner.container:
        cgroups.remove(groups)
