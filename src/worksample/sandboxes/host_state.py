"""The state of a running box on the host: a folder with the box's owner file, a lease of a user id, and control groups.

The owner file names the process that made the box by host, boot, process id and start time. From the owner file,
`sweep` can tell which boxes are orphaned, even if several machines share the runtime folder.
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
"""Parent of the folders of image builds. It lies outside of all private folders, because the users of a build could not
enter a private folder.
"""
FIRST_UID, UIDS = 2_000_000, 4096
"""First host user id, and number of host user ids, for boxes if the platform runs as root. The ids are small enough for
every archive format.
"""


def runtime_folder() -> Path:
    """Return the folder for running boxes: WORKSAMPLE_RUNTIME_DIR, $XDG_RUNTIME_DIR/worksample or
    /tmp/worksample-<uid>, with mode 0700.

    Raises SandboxError if the path is not a folder or another account owns the folder.
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
    """Return the cache folder, $XDG_CACHE_HOME/worksample or ~/.cache/worksample, and create it if missing. All content
    of the folder can be rebuilt.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "worksample"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _make_private(runtime_folder() / "cache")
    return folder


def cache_folders() -> list[Path]:
    """Return all folders whose content `shared_folders.make_once` creates. The sweeper removes unfinished copies from
    these folders.
    """
    cache = cache_folder()
    below = (Path(entry.path) for entry in os.scandir(cache) if entry.is_dir(follow_symlinks=False))
    return [cache, prefixes_folder(), *sorted(below)]


def workplaces_folder() -> Path:
    """Return the folder that holds one folder for each running workplace."""
    return runtime_folder() / "workplaces"


def prefixes_folder() -> Path:
    """Return the folder of shared Dockerfile prefixes of this cache. Builds can reach the folder. This function does
    not create it.
    """
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
    """Return a text that identifies the current boot and the pid namespace of this process. Process ids from another
    boot or namespace cannot be checked.
    """
    return f"{_boot()} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path


@dataclass(slots=True)
class BoxOwner:
    """The process that created a box, and a list of what must be removed after that process has died."""

    pid: int = field(default_factory=os.getpid)
    started: int = field(default_factory=lambda: started_at(os.getpid()))
    label: str = ""
    holder: int = 0
    holder_started: int = 0
    child: int = 0
    child_started: int = 0
    groups: tuple[str, ...] = ()
    daemon: str = ""
    """Address of the Docker daemon if the box is a container, otherwise ""."""
    container: str = ""
    folder: str = ""
    here: str = field(default_factory=_process_space)
    host: str = field(default_factory=host_id)
    """Empty in owner files of earlier versions."""
    changed: float = field(default_factory=time.time)
    """When the owner file was written, as seconds since 1970. Not saved."""

    def is_alive(self) -> bool:
        """Return whether the process that made the box still runs. Return True if the process belongs to another
        container or machine and cannot be checked.
        """
        if self.here == _process_space():
            return self.started != 0 and started_at(self.pid) == self.started
        relation = relation_to(f"{self.host}-{short_id(self.here.split(' ')[0])}", self.changed)
        return not is_abandoned(relation, self.changed)

    def is_of_this_boot(self) -> bool:
        """Return whether the recorded process ids and control groups belong to the current boot of the machine."""
        return self.here.split(" ")[0] == _boot()


class BoxFolder:
    """The folder of one box below the runtime folder. It contains the owner file and the messages of the holder."""

    def __init__(self, label: str, kind: str = "boxes", groups: Callable[[str], tuple[str, ...]] | None = None) -> None:
        """`groups` returns the control groups that are planned for a box of the given name, so that the groups are
        recorded before they are created.
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
        """Write the owner file of the box atomically."""
        fresh = self.path / "owner.new"
        fresh.write_text(json.dumps({k: v for k, v in asdict(self.owner).items() if k != "changed"}), encoding="utf-8")
        fresh.replace(self.path / "owner.json")

    def remove(self) -> None:
        """Delete the folder of the box."""
        shutil.rmtree(self.path, ignore_errors=True)


def read_owner(folder: Path) -> BoxOwner | None:
    """Return the owner of a box from its folder, or None if the owner file is missing or incomplete."""
    try:
        with (folder / "owner.json").open(encoding="utf-8") as file:
            data = json.load(file)
            data |= {"groups": tuple(data["groups"]), "changed": os.fstat(file.fileno()).st_mtime}
        return BoxOwner(**{"here": _process_space(), "host": "", **data})
    except (OSError, ValueError, TypeError, KeyError):
        return None


class UidLease:
    """Lease of a host user id that no other running box uses. The lease is a lock that ends with this process."""

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
        """Return the user id, so that another box can use it. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _uid_range() -> range:
    """Return the host user ids that boxes may use in this user namespace. This is the usual range, or the highest ids
    if the namespace maps only few ids, as in containers.
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
