"""Removing what killed runs left behind: processes, control groups, folders whose maker is dead."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import threading
from pathlib import Path

from worksample.files import scratch
from worksample.sandboxes import cgroups

from .host_state import OPEN, BoxOwner, cache_folder, kept_folders, read_owner, runtime_folder, workplaces_folder
from .marked_processes import end_marked, end_orphans
from .shared_folders import remove_halves

LOCK = "lock"
"""In a workplace's folder: held by its keeper for as long as it lives."""
_LOCK = threading.Lock()
_SWEPT: set[tuple[Path, Path]] = set()


def sweep() -> list[str]:
    """Remove the remains of boxes and of other work whose makers are dead; return a line for each. What lives is not
    touched."""
    orphans = end_orphans()
    removed = [f"{orphans} processes that bubblewrap had not let go on"] if orphans else []
    for kind in ("boxes", "plain", "containers"):
        for folder in sorted((runtime_folder() / kind).glob("*")):
            owner = read_owner(folder) or _unwritten(folder)
            if owner.alive():
                continue
            if owner.of_this_boot():
                _end(owner)
                if kind == "plain":
                    end_marked(folder)
            if owner.container and not _without_container(owner):
                continue  # its daemon does not answer now
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(f"{folder.name} {owner.label}".strip())
    return removed + _nameless_groups() + _folders()


def sweep_first() -> None:
    """Sweep before the first box of this process: a killed run's remains last until the next run, and no longer."""
    places = (runtime_folder(), cache_folder())
    with _LOCK:
        if places not in _SWEPT:
            _SWEPT.add(places)
            sweep()


def _without_container(owner: BoxOwner) -> bool:
    """Whether the daemon has no container of the box any more."""
    from worksample.sandboxes.containers.daemon import remove

    return remove(owner.daemon, owner.container)


def _nameless_groups() -> list[str]:
    """Empty control groups of makers that are dead and whose folder is gone too."""
    parents = cgroups.find_parents()
    removed = []
    for parent in {parents.memory, parents.pids, parents.freezer, parents.unified, parents.cpu} - {None}:
        for group in sorted(parent.glob(f"{cgroups.PREFIX}[0-9]*-*")) if parent else ():
            if cgroups.is_left(group.name):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    removed.append(f"control group {group}")
    return removed


def _folders() -> list[str]:
    """What was laid down beside the store, and what was being made to be kept: of makers that are dead."""
    places = (None, OPEN, *kept_folders())
    removed = [f"folder {name}" for place in places for name in scratch.sweep_scratch_folders(place)]
    removed += [f"half {name}" for place in kept_folders() for name in remove_halves(place)]
    return removed + _workplaces()


def _workplaces() -> list[str]:
    """Folders of workplaces that nobody keeps. Of those that people began, the keeper's last words stay."""
    removed = []
    for folder in sorted(workplaces_folder().glob("*")):
        of_trial = folder.name.startswith("trial-")
        sockets = [path for path in folder.glob("*") if path.is_socket()]
        if not (of_trial or sockets):
            continue
        with contextlib.suppress(OSError), (folder / LOCK).open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for socket in sockets:
                socket.unlink(missing_ok=True)
            if of_trial:
                shutil.rmtree(folder, ignore_errors=True)
            removed.append(f"workplace {folder.name}")
        with contextlib.suppress(OSError):
            folder.rmdir()  # one that has no lock yet; who makes it tries again
    return removed


def _unwritten(folder: Path) -> BoxOwner:
    """The owner of a folder without an owner file, from its name."""
    pid = folder.name.split("-")[0]
    number = int(pid) if pid.isdigit() else 0
    return BoxOwner(pid=number, started=scratch.started_at(number))


def _end(owner: BoxOwner) -> None:
    groups = [Path(folder) for folder in owner.groups]
    for folder in groups:
        for name, text in (("cgroup.kill", "1"), ("freezer.state", "THAWED")):
            if (folder / name).exists():
                with contextlib.suppress(OSError):
                    (folder / name).write_text(text, encoding="ascii")
    for pid, started in ((owner.child, owner.child_started), (owner.holder, owner.holder_started)):
        if pid and started and scratch.started_at(pid) == started:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # a container's is the daemon's
                os.kill(pid, signal.SIGKILL)
    if not owner.container:
        cgroups.remove(groups)
