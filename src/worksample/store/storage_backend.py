"""Storage of files: a folder on this machine, or an fsspec URL. Paths are relative and separated by `/`."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from worksample.errors import StoreError
from worksample.extras import install_command
from worksample.files.copy_file import WriteFailed, copy_file, write_all

from .durable_disk import Disk
from .error_translation import translate_os_errors
from .faults import CredentialsInvalid, Patience, translate_remote_errors, with_patience

_FEW = 16
"""Number of files above which one sync of the whole file system is faster than one sync for each file."""
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class FileBackend(Protocol):
    """Common interface of local and remote storage. A file is either complete or absent."""

    name: str

    def has(self, path: str) -> bool: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...
    def write_file(self, path: str, source: Path) -> None: ...
    def list(self, folder: str) -> Iterator[str]: ...
    def folders(self, folder: str) -> Sequence[str]: ...
    def remove(self, path: str) -> None: ...


class LocalPlace:
    """Storage in a folder on this machine. Files are first written to `tmp/`, made read-only, and then moved into
    place.
    """

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self.name = str(root)
        self.disk = disk or Disk()
        self._named: set[Path] = set()
        """Folders whose own names are already durable in their parent folders."""

    def path(self, path: str) -> Path:
        return self.root / path

    def has(self, path: str) -> bool:
        return self.path(path).is_file()

    def size(self, path: str) -> int | None:
        """Return the size of a file in bytes, or None if it does not exist."""
        try:
            return self.path(path).stat().st_size
        except FileNotFoundError:
            return None

    def read(self, path: str) -> bytes:
        return self.path(path).read_bytes()

    def list(self, folder: str) -> Iterator[str]:
        """Yield the paths of all files below `folder`, sorted."""
        top = self.path(folder)
        for level, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                yield f"{folder}/{(Path(level) / name).relative_to(top).as_posix()}"

    def folders(self, folder: str) -> Sequence[str]:
        """Return the names of the folders in `folder`, sorted."""
        with suppress(FileNotFoundError):
            return sorted(e.name for e in os.scandir(self.path(folder)) if e.is_dir())
        return []

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with translate_os_errors(self.name):
            self.path(path).unlink(missing_ok=True)

    def count(self, folder: str) -> int:
        """Return the number of files in the subfolders of `folder`. The files are not read."""
        with suppress(FileNotFoundError):
            return sum(len(os.listdir(e.path)) for e in os.scandir(self.path(folder)) if e.is_dir())  # noqa: PTH208
        return 0

    def sweep(self) -> None:
        """Remove files that processes left in `tmp/` when they were killed. Only files that are at least a day old are
        removed.
        """
        old = time.time() - 86_400
        with suppress(FileNotFoundError):
            for entry in os.scandir(self.root / "tmp"):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < old:
                        _remove(Path(entry.path))

    def write(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write a file atomically. With `durable`, sync the file before returning. Raises StoreFull if the disk is
        full, and StoreError for other failures.
        """
        with self.draft() as (fd, draft), translate_os_errors(self.name):
            write_all(fd, data)
            self._adopt(fd, draft, path, durable)

    def write_file(self, path: str, source: Path) -> None:
        with translate_os_errors(self.name):
            fd = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            try:
                self.write_open(lambda _: path, fd, os.fstat(fd).st_size, durable=True)
            finally:
                os.close(fd)

    def write_open(self, name: Any, fd: int, size: int, *, durable: bool) -> tuple[str, str, bool]:
        """Copy an open file to the path that `name` computes from its digest. If this path already has a file of the
        same size, nothing is written.

        Returns the digest, the path, and whether the file was written. A failure to read the open file raises OSError.
        """
        with self.draft() as (target, draft):
            try:
                poured = copy_file(fd, target, size)
            except WriteFailed as e:
                with translate_os_errors(self.name):
                    raise e.error from e
            path = str(name(poured.digest))
            missing = self.size(path) != poured.size
            if missing:
                with translate_os_errors(self.name):
                    self._adopt(target, draft, path, durable)
            return poured.digest, path, missing

    def settle(self, paths: Collection[str]) -> None:
        """Make the contents and the names of these files durable, whichever process wrote the files."""
        folders = {self.path(path).parent for path in paths}
        with translate_os_errors(self.name):
            if len(paths) > _FEW:
                self.disk.sync_all(self.root)
                return
            for path in sorted(paths):
                fd = os.open(self.path(path), os.O_RDONLY | os.O_CLOEXEC)
                try:
                    self.disk.sync(fd)
                finally:
                    os.close(fd)
            for folder in sorted(folders):
                self._sync_names(folder)

    @contextmanager
    def draft(self) -> Iterator[tuple[int, Path]]:
        """Open a new file in `tmp/` for writing. At the end of the block, the file is removed unless it was moved into
        place.
        """
        draft = self.root / "tmp" / f"{os.getpid()}-{secrets.token_hex(8)}"
        with translate_os_errors(self.name):
            try:
                fd = os.open(draft, _NEW, 0o600)
            except FileNotFoundError:
                draft.parent.mkdir(parents=True, exist_ok=True)
                fd = os.open(draft, _NEW, 0o600)
        try:
            yield fd, draft
        finally:
            os.close(fd)
            with suppress(FileNotFoundError):
                draft.unlink()

    def _adopt(self, fd: int, draft: Path, path: str, durable: bool) -> None:
        os.fchmod(fd, 0o444)
        if durable:
            self.disk.sync(fd)
        target = self.path(path)
        try:
            draft.rename(target)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.rename(target)
        if durable:
            self._sync_names(target.parent)

    def _sync_names(self, folder: Path) -> None:
        """Sync the names in a folder. At the first call for a folder, also sync the names of the folder and of its
        parents.

        The folders may be new: another process may have created them without syncing them yet.
        """
        self.disk.sync_folder(folder)
        while folder != self.root and folder not in self._named:
            self.disk.sync_folder(folder.parent)
            self._named.add(folder)
            folder = folder.parent


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


class RemotePlace:
    """Remote storage at an fsspec URL. Writes must be atomic, as in object stores.

    After a temporary failure, a call is retried within `patience`; then StoreUnavailable is raised. Every call is
    idempotent.
    """

    def __init__(self, url: str, patience: Patience | None = None) -> None:
        import fsspec  # type: ignore[import-untyped]

        self.name = url
        self.patience = patience or Patience()
        try:
            fs, root = fsspec.core.url_to_fs(url)
        except ImportError as e:
            raise StoreError(
                f"the driver for this URL is not installed: {e}", where=url, next=install_command("s3")
            ) from e
        except ValueError as e:
            raise StoreError(
                f"this is not the URL of a store: {e}", where=url, next="--store s3://BUCKET/STORE, or a folder"
            ) from e
        self._fs, self._root = fs, str(root).rstrip("/")

    @contextmanager
    def _faults(self, missing: type[OSError] | None = None) -> Iterator[None]:
        try:
            with translate_remote_errors(self.name, missing=missing):
                yield
        except CredentialsInvalid:
            # Read them anew, since they may have been renewed in the files of this machine.
            if (connect := getattr(self._fs, "connect", None)) is not None:
                with suppress(StoreError), translate_remote_errors(self.name):
                    connect(refresh=True)
            raise

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    @with_patience
    def has(self, path: str) -> bool:
        with self._faults():
            return bool(self._fs.exists(self._at(path)))

    @with_patience
    def read(self, path: str) -> bytes:
        with self._faults(missing=FileNotFoundError):
            data: bytes = self._fs.cat_file(self._at(path))
            return data

    @with_patience
    def write(self, path: str, data: bytes) -> None:
        with self._faults():
            try:
                self._fs.pipe_file(self._at(path), data)
            except FileNotFoundError:
                self._fs.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)
                self._fs.pipe_file(self._at(path), data)

    @with_patience
    def write_file(self, path: str, source: Path) -> None:
        with self._faults():
            try:
                self._fs.put_file(str(source), self._at(path))
            except FileNotFoundError:
                self._fs.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)
                self._fs.put_file(str(source), self._at(path))

    @with_patience
    def fetch(self, path: str, target: Path) -> None:
        """Copy a remote file to this machine. Raises FileNotFoundError if the file does not exist."""
        with self._faults(missing=FileNotFoundError):
            self._fs.get_file(self._at(path), str(target))

    def list(self, folder: str) -> Iterator[str]:
        """Yield the paths of all files below `folder`, sorted."""
        start = len(self._root.lstrip("/")) + 1
        for path in self._find(folder):
            yield path.lstrip("/")[start:]

    @with_patience
    def _find(self, folder: str) -> Sequence[str]:
        with self._faults():
            self._fs.invalidate_cache()
            return sorted(str(p) for p in self._fs.find(self._at(folder)))

    @with_patience
    def folders(self, folder: str) -> Sequence[str]:
        """Return the names of the folders in `folder`, sorted."""
        with self._faults():
            self._fs.invalidate_cache()
            try:
                found = self._fs.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return []
        return sorted(str(f["name"]).rstrip("/").rpartition("/")[2] for f in found if f["type"] == "directory")

    @with_patience
    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with self._faults():
            try:
                self._fs.rm_file(self._at(path))
            except FileNotFoundError:
                return
