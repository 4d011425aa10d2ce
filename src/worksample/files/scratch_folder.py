"""Temporary folders of one piece of work, removed at its end. `sweep_scratch_folders` removes those of killed
processes.

A folder's name identifies its creator (process, start time, process namespace, host, boot) from its first moment. So it
is always known whether the creator still runs, also if several machines share the parent folder.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .machine import MachineRelation, is_abandoned, machine_id, relation_to

PREFIX = "worksample-"
MAKER_PATTERN = r"(\d+)-(\d+)-(\d+)(?:-([0-9a-f]{8}-[0-9a-f]{8}))?"
"""Regular expression for the result of `maker_of_this_process`, with four groups. Names of earlier versions lack the
last group, host and boot.
"""
_NAME = re.compile(rf"\.?worksample-[a-z]+-{MAKER_PATTERN}-[0-9a-f]{{8}}")


@contextmanager
def scratch_folder(purpose: str, inside: Path | None = None, *, mode: int = 0o700) -> Iterator[Path]:
    """Create a folder of this process for the duration of the `with`.

    `purpose` is a word in lower case. `inside` is by default the folder for temporary files.
    """
    folder = (inside or Path(tempfile.gettempdir())) / _name(purpose)
    folder.mkdir(mode=mode)
    try:
        yield folder
    finally:
        remove_tree(folder)


def sweep_scratch_folders(inside: Path | None = None) -> list[str]:
    """Remove folders whose creators are dead, and return their names. Folders of other users, other process namespaces
    and other machines stay; those whose names hold no machine stay for 7 days after their last change.
    """
    removed = []
    with suppress(OSError), os.scandir(inside or tempfile.gettempdir()) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found is None or not entry.is_dir(follow_symlinks=False):
                continue
            with suppress(OSError):
                if not is_gone(*found.groups(""), changed=entry.stat(follow_symlinks=False).st_mtime):
                    continue
                if os.geteuid() in (0, entry.stat(follow_symlinks=False).st_uid):
                    remove_tree(Path(entry.path))
                    removed.append(entry.name)
    return removed


def remove_tree(folder: Path) -> None:
    """Remove a folder with all its contents, including folders without write permission. Links are not followed;
    entries that cannot be removed stay.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        for parent, below, _ in os.walk(folder):
            for path in (Path(parent), *(Path(parent) / name for name in below)):
                if not path.is_symlink():
                    with suppress(OSError):
                        path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def started_at(pid: int) -> int:
    """Return the start time of a process in clock ticks since boot; 0 if there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def maker_of_this_process() -> str:
    """Return the part of a folder name that identifies this process: number, start time, process namespace, host,
    boot.
    """
    pid = os.getpid()
    return f"{pid}-{started_at(pid)}-{process_namespace()}-{machine_id()}"


def is_gone(pid: str, started: str, space: str, machine: str, *, changed: float) -> bool:
    """Return whether a creator is known to have ended; the arguments are the groups of `MAKER_PATTERN`. Processes of
    another process namespace or machine cannot be checked.

    `changed`: when its folder last changed, as seconds since 1970.
    """
    relation = relation_to(machine, changed)
    if relation is MachineRelation.EARLIER_BOOT:
        return True
    ended = int(space) == process_namespace() and started_at(int(pid)) != int(started)
    return ended and (relation is MachineRelation.HERE or is_abandoned(relation, changed))


def _name(purpose: str) -> str:
    return f"{PREFIX}{purpose}-{maker_of_this_process()}-{secrets.token_hex(4)}"


def process_namespace() -> int:
    """Return the id of the namespace to which process numbers belong."""
    return Path("/proc/self/ns/pid").stat().st_ino
