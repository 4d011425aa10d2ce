"""Removal of everything that killed runs left on this machine: processes, control groups and folders whose creator is
dead.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import threading
from pathlib import Path

from worksample.files import scratch_folder as scratch
from worksample.files.machine import boot_id, is_lock_of_another_machine
from worksample.sandboxes import cgroups

from .host_state import BUILD_ROOT, BoxOwner, cache_folder, cache_folders, read_owner, runtime_folder, workplaces_folder
from .processes_by_variable import kill_marked, kill_orphans
from .shared_folders import remove_halves

LOCK = "lock"
"""Name of the lock file in a workplace's folder. The keeper process of the workplace holds the lock until it exits."""
_LOCK = threading.Lock()
_SWEPT: set[tuple[Path, Path]] = set()


def sweep() -> list[str]:
    """Remove the remains of boxes and of other work whose creators are dead. Return a line of text for each removed
    item. Nothing that belongs to a living process is changed.
    """
    orphans = kill_orphans()
    removed = [f"{orphans} orphaned bubblewrap processes"] if orphans else []
    for kind in ("boxes", "plain", "containers"):
        for folder in sorted((runtime_folder() / kind).glob("*")):
            owner = read_owner(folder) or _owner_from_name(folder)
            if owner.is_alive():
                continue
            if owner.is_of_this_boot():
                _kill_box(owner)
                if kind == "plain":
                    kill_marked(folder)
            if owner.container and not _remove_container(owner):
                continue  # its daemon does not answer
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(f"{folder.name} {owner.label}".strip())
    return removed + _sweep_groups() + _sweep_folders()


def sweep_first() -> None:
    """Sweep once, before the first box of this process. So the remains of a killed run last only until the next run."""
    places = (runtime_folder(), cache_folder())
    with _LOCK:
        if places not in _SWEPT:
            _SWEPT.add(places)
            sweep()


def _remove_container(owner: BoxOwner) -> bool:
    """Remove the container of a box. Return whether the container is certainly gone."""
    from worksample.sandboxes.containers.docker_daemon import remove_container

    return remove_container(owner.daemon, owner.container)


def _sweep_groups() -> list[str]:
    """Remove empty control groups whose creator is dead and whose folder is gone."""
    parents = cgroups.find_parents()
    removed = []
    for parent in {parents.memory, parents.pids, parents.freezer, parents.unified, parents.cpu} - {None}:
        for group in sorted(parent.glob(f"{cgroups.PREFIX}[0-9]*-*")) if parent else ():
            if cgroups.is_orphaned(group.name):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    removed.append(f"control group {group}")
    return removed


def _sweep_folders() -> list[str]:
    """Remove scratch folders and incomplete cache entries whose creators are dead."""
    places = (None, BUILD_ROOT, *cache_folders())
    removed = [f"folder {name}" for place in places for name in scratch.sweep_scratch_folders(place)]
    removed += [f"half {name}" for place in cache_folders() for name in remove_halves(place)]
    return removed + _sweep_workplaces()


def _sweep_workplaces() -> list[str]:
    """Remove the folders of workplaces without a keeper process. If a person started the workplace, the keeper's log is
    not removed.
    """
    removed = []
    for folder in sorted(workplaces_folder().glob("*")):
        of_trial = folder.name.startswith("trial-")
        sockets = [path for path in folder.glob("*") if path.is_socket()]
        if not (of_trial or sockets):
            continue
        with contextlib.suppress(OSError), (folder / LOCK).open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_lock_of_another_machine(lock):
                continue
            for socket in sockets:
                socket.unlink(missing_ok=True)
            if of_trial:
                shutil.rmtree(folder, ignore_errors=True)
            removed.append(f"workplace {folder.name}")
        with contextlib.suppress(OSError):
            folder.rmdir()  # it has no lock yet; its creator tries again
    return removed


def _owner_from_name(folder: Path) -> BoxOwner:
    """Return the owner of a folder without an owner file. The owner is read from the name of the folder, which holds
    the boot but not the host.
    """
    pid, *boot = folder.name.split("-")
    number = int(pid) if pid.isdigit() else 0
    if boot[:1] == [boot_id()]:
        return BoxOwner(pid=number, started=scratch.started_at(number))
    return BoxOwner(pid=number, here="", host="", changed=folder.stat().st_mtime)


def _kill_box(owner: BoxOwner) -> None:
    groups = [Path(folder) for folder in owner.groups]
    for folder in groups:
        for name, text in (("cgroup.kill", "1"), ("freezer.state", "THAWED")):
            if (folder / name).exists():
                with contextlib.suppress(OSError):
                    (folder / name).write_text(text, encoding="ascii")
    for pid, started in ((owner.child, owner.child_started), (owner.holder, owner.holder_started)):
        if pid and started and scratch.started_at(pid) == started:
            with contextlib.suppress(
                ProcessLookupError, PermissionError
            ):  # a container's processes belong to the daemon
                os.kill(pid, signal.SIGKILL)
    if not owner.container:
        cgroups.remove(groups)
