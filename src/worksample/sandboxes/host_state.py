"""State of a running box on the host: a folder with its owner, a lease on a user id, control groups.

The owner file names the process that made the box (host, boot, pid and start time), so that `sweep` can tell which
boxes are orphaned, also if machines share the runtime folder.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from worksample.errors import SandboxError, SandboxUnavailable
from worksample.files.machine import boot_id, host_id, is_abandoned, relation_to, short_id
from worksample.files.scratch_folder import started_at

BUILD_ROOT = Path("/var/tmp")
"""Parent of build folders: outside of all private folders, which the users of a build could not enter."""
FIRST_UID, UIDS = 2_000_000, 4096
"""Host user ids that the boxes of a root platform run as; small enough for every archive format."""


def runtime_folder() -> Path:
    """Return WORKSAMPLE_RUNTIME_DIR, $XDG_RUNTIME_DIR/worksample or /tmp/worksample-<uid>, with mode 0700.

    Raises SandboxError if another account owns it or it is not a folder.
    """
    given, session = os.environ.get("WORKSAMPLE_RUNTIME_DIR"), os.environ.get("XDG_RUNTIME_DIR")
    if given:
        folder = Path(given)
    elif session and os.access(session, os.W_OK):
        folder = Path(session) / "worksample"
    else:
        folder = Path(tempfile.gettempdir()) / f"worksample-{os.geteuid()}"
    return _make_private(folder)


def cache_folder() -> Path:
    """Return $XDG_CACHE_HOME/worksample or ~/.cache/worksample, created if missing. Its content can be rebuilt."""
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "worksample"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _make_private(runtime_folder() / "cache")
    return folder


def cache_folders() -> list[Path]:
    """Return all folders in which content is created once and whole (`shared_folders.make_once`), to sweep unfinished
    copies.
    """
    cache = cache_folder()
    below = (Path(entry.path) for entry in os.scandir(cache) if entry.is_dir(follow_symlinks=False))
    return [cache, prefixes_folder(), *sorted(below)]


def workplaces_folder() -> Path:
    """Return the parent of the folders of running workplaces."""
    return runtime_folder() / "workplaces"


def prefixes_folder() -> Path:
    """Return the folder of shared Dockerfile prefixes, which builds can reach; one per cache. Not created here."""
    name = hashlib.sha256(os.fsencode(cache_folder())).hexdigest()[:16]
    return BUILD_ROOT / f"worksample-beginnings-{os.geteuid()}-{name}"


def _make_private(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise SandboxError(
            f"{folder} is not a folder that this account owns",
            where="sandbox",
            next="export WORKSAMPLE_RUNTIME_DIR=/var/tmp/worksample-$(id -u)-$(hostname)",
        )
    if found.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


@functools.cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _process_space() -> str:
    """Return this boot and our pid namespace: process ids of another one mean nothing to us."""
    return f"{_boot()} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path


@dataclass(slots=True)
class BoxOwner:
    """The creator of a box, and what must be removed when that process is gone."""

    pid: int = field(default_factory=os.getpid)
    started: int = field(default_factory=lambda: started_at(os.getpid()))
    label: str = ""
    holder: int = 0
    holder_started: int = 0
    child: int = 0
    child_started: int = 0
    groups: tuple[str, ...] = ()
    daemon: str = ""
    """Address of the daemon, if the box is its container."""
    container: str = ""
    folder: str = ""
    here: str = field(default_factory=_process_space)
    host: str = field(default_factory=host_id)
    """Empty in owner files of earlier versions."""
    changed: float = field(default_factory=time.time)
    """When the owner file was written, as seconds since 1970. Not saved."""

    def is_alive(self) -> bool:
        """Return whether the process that made the box still runs; assumed if only another container or machine can
        tell.
        """
        if self.here == _process_space():
            return self.started != 0 and started_at(self.pid) == self.started
        relation = relation_to(f"{self.host}-{short_id(self.here.split(' ')[0])}", self.changed)
        return not is_abandoned(relation, self.changed)

    def is_of_this_boot(self) -> bool:
        """Return whether the recorded process ids and control groups belong to the current boot."""
        return self.here.split(" ")[0] == _boot()


class BoxFolder:
    """Folder of one box below the runtime folder: its owner file and the holder's messages."""

    def __init__(self, label: str, kind: str = "boxes", groups: Callable[[str], tuple[str, ...]] | None = None) -> None:
        """groups: returns the control groups planned for a box of this name, so that they are recorded before they are
        created.
        """
        self.path = _make_private(runtime_folder() / kind) / f"{os.getpid()}-{boot_id()}-{secrets.token_hex(6)}"
        self.path.mkdir(mode=0o700)
        self.owner = BoxOwner(label=label, groups=groups(self.path.name) if groups else ())
        self.save()

    @property
    def name(self) -> str:
        """Name of the folder, unique on this machine."""
        return self.path.name

    def save(self) -> None:
        """Write the owner file atomically."""
        fresh = self.path / "owner.new"
        fresh.write_text(json.dumps({k: v for k, v in asdict(self.owner).items() if k != "changed"}), encoding="utf-8")
        fresh.replace(self.path / "owner.json")

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def read_owner(folder: Path) -> BoxOwner | None:
    """Return the owner of a box folder; None if the owner file is missing or incomplete."""
    try:
        with (folder / "owner.json").open(encoding="utf-8") as file:
            data = json.load(file)
            data |= {"groups": tuple(data["groups"]), "changed": os.fstat(file.fileno()).st_mtime}
        return BoxOwner(**{"here": _process_space(), "host": "", **data})
    except (OSError, ValueError, TypeError, KeyError):
        return None


class UidLease:
    """Lease of a host user id that no other box uses now. The lock ends with the process that holds it."""

    def __init__(self) -> None:
        folder = _make_private(runtime_folder() / "uids")
        for uid in _uid_range():
            descriptor = os.open(folder / str(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            self.uid, self._descriptor = uid, descriptor
            return
        raise SandboxUnavailable("all user ids for boxes are taken", where="sandbox", next="worksample doctor")

    def release(self) -> None:
        """Give the user id back. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _uid_range() -> range:
    """Return the user ids for boxes in this user namespace: the usual range, or the top of a small map as in
    containers.
    """
    spans = []
    for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
        inside, _, count = (int(word) for word in line.split())
        spans.append((inside, inside + count))
    for first, size in ((FIRST_UID, UIDS), (61_184, 4096)):
        if any(low <= first and first + size <= high for low, high in spans):
            return range(first, first + size)
    raise SandboxUnavailable(
        "the user namespace of this machine has too few user ids for root, as each box needs its own",
        where="sandbox",
        next="run as an ordinary user",
    )
