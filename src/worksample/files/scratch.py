"""Folders for what one piece of work lays down beside the store, removed at its end; a kill leaves them to `sweep`.

The name says who made it (process, its start, the namespace in which the number counts), from the step in which it
appears: there is no moment in which a killed maker's folder could be taken for a living one's, or the other way round.
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

PREFIX = "worksample-"
_NAME = re.compile(r"\.?worksample-[a-z]+-(\d+)-(\d+)-(\d+)-[0-9a-f]{8}")


@contextmanager
def scratch_folder(purpose: str, inside: Path | None = None, *, mode: int = 0o700) -> Iterator[Path]:
    """A folder of this process, until the end of the `with`. `purpose`: a word in small letters. `inside`: else where
    temporary files lie."""
    folder = (inside or Path(tempfile.gettempdir())) / _name(purpose)
    folder.mkdir(mode=mode)
    try:
        yield folder
    finally:
        remove_tree(folder)


def sweep_scratch_folders(inside: Path | None = None) -> list[str]:
    """Remove the folders in a place whose makers are dead; their names. Others', and those of another namespace of
    processes, are not touched."""
    removed = []
    with suppress(OSError), os.scandir(inside or tempfile.gettempdir()) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found is None or not entry.is_dir(follow_symlinks=False):
                continue
            if not is_gone(*(int(word) for word in found.groups())):
                continue
            with suppress(OSError):
                if os.geteuid() in (0, entry.stat(follow_symlinks=False).st_uid):
                    remove_tree(Path(entry.path))
                    removed.append(entry.name)
    return removed


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that lies in it, also below folders that let nobody write; nothing is followed. What
    cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        for parent, below, _ in os.walk(folder):
            for path in (Path(parent), *(Path(parent) / name for name in below)):
                if not path.is_symlink():
                    with suppress(OSError):
                        path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def started_at(pid: int) -> int:
    """Start time of a process in clock ticks since boot; 0 when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def maker_of_this_process() -> str:
    """This process, as names say it: its number, its start, the namespace in which the number counts."""
    pid = os.getpid()
    return f"{pid}-{started_at(pid)}-{process_namespace()}"


def is_gone(pid: int, started: int, space: int) -> bool:
    """Whether a maker is known to be dead: of another namespace nobody knows."""
    return space == process_namespace() and started_at(pid) != started


def _name(purpose: str) -> str:
    return f"{PREFIX}{purpose}-{maker_of_this_process()}-{secrets.token_hex(4)}"


def process_namespace() -> int:
    """The namespace in which numbers of processes count."""
    return Path("/proc/self/ns/pid").stat().st_ino
