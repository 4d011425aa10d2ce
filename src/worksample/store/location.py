"""Find a store: its storage, its settings file and its database."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import StoreError

from .durable_disk import Disk
from .error_translation import translate_os_errors
from .faults import Patience
from .storage_backend import FileBackend, LocalPlace, RemotePlace

FORMAT = 1
SETTINGS = "store.toml"
_TEXT = """\
# A Worksample store. records/, blobs/ and logs/ are the evidence; everything else can be rebuilt from them.
format = {format}
id = "{id}"

[database]
url = ""        # empty: index.sqlite beside this file; or postgresql://... (WORKSAMPLE_DATABASE goes before it)
"""


@dataclass(frozen=True, slots=True)
class Location:
    near: LocalPlace
    """The store itself if it is local, or else its cache on this machine."""
    far: RemotePlace | None
    id: str
    database: str
    patience: Patience
    """How long the storage and the database are waited for."""

    @property
    def place(self) -> FileBackend:
        return self.near if self.far is None else self.far


def locate(where: str | Path | None, *, create: bool, disk: Disk | None = None) -> Location:
    """Find the store at a folder or URL (None: $WORKSAMPLE_STORE, or `./.worksample`); create it if `create` is True.

    Raises StoreError if the place has no store, something else, or a store of a newer format.
    """
    text, near, far = _places(where, disk)
    settings = _settings(near, far, create)
    if not isinstance(format := settings.get("format"), int) or format > FORMAT:
        raise StoreError(
            f"this store has format {format!r}; this version reads up to {FORMAT}",
            where=text,
            next="pip install --upgrade worksample",
        )
    url = os.environ.get("WORKSAMPLE_DATABASE") or settings.get("database", {}).get("url")
    with translate_os_errors(near.name):
        near.root.mkdir(parents=True, exist_ok=True)
    patience = Patience() if far is None else far.patience
    return Location(near, far, str(settings.get("id", "")), url or f"sqlite:///{near.root / 'index.sqlite'}", patience)


def is_store(where: str | Path | None) -> bool:
    """Return whether `locate` would find a store, sound or not. Writes nothing."""
    _, near, far = _places(where)
    place: FileBackend = near if far is None else far
    return place.has(SETTINGS)


def _places(where: str | Path | None, disk: Disk | None = None) -> tuple[str, LocalPlace, RemotePlace | None]:
    """Return the address as text, the folder on this machine, and the remote storage if the address is a URL."""
    text = str(where or os.environ.get("WORKSAMPLE_STORE") or ".worksample")
    if text.startswith(("file://", "local://")):
        text = text.partition("://")[2]
    if "://" not in text:
        return text, LocalPlace(Path(text).absolute(), disk), None
    cache = os.environ.get("WORKSAMPLE_CACHE") or Path.home() / ".cache" / "worksample"
    near = Path(cache) / hashlib.sha256(text.encode()).hexdigest()[:16]
    return text, LocalPlace(near, disk), RemotePlace(text)


def _settings(near: LocalPlace, far: RemotePlace | None, create: bool) -> dict[str, Any]:
    place: FileBackend = near if far is None else far
    if create and not place.has(SETTINGS):
        _make(near, far, place)
    try:
        return tomllib.loads(place.read(SETTINGS).decode())
    except (FileNotFoundError, NotADirectoryError) as e:
        other = far is None and near.root.exists()
        what = "this is not a store (it has no store.toml)" if other else "there is no store here"
        made = "worksample run makes a new one, and so does worksample serve --create"
        next = f"name another with --store or WORKSAMPLE_STORE; {made}"
        raise StoreError(what, where=place.name, next=next) from e
    except ValueError as e:
        raise StoreError(
            f"store.toml cannot be read: {e}",
            where=f"{place.name}/{SETTINGS}",
            next="correct it as docs/reference/store.md describes, or restore it from a copy",
        ) from e


def _make(near: LocalPlace, far: RemotePlace | None, place: FileBackend) -> None:
    with translate_os_errors(place.name):
        _make_folder(near)
        fd = os.open(near.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if place.has(SETTINGS):
                return
            if far is None and any(p.name not in ("tmp", "records") for p in near.root.iterdir()):
                raise StoreError(
                    "this folder holds other files and is not a store",
                    where=place.name,
                    next="name a new or empty folder with --store or WORKSAMPLE_STORE",
                )
            place.write(SETTINGS, _TEXT.format(format=FORMAT, id=secrets.token_hex(16)).encode())
            if far is None:
                near.path(SETTINGS).chmod(0o644)
        finally:
            os.close(fd)


def _make_folder(near: LocalPlace) -> None:
    """Create the store's folder and its missing parents durably."""
    folder, missing = near.root, list[Path]()
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    near.root.mkdir(parents=True, exist_ok=True)
    for made in missing:
        near.disk.sync_folder(made.parent)
