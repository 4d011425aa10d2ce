"""Where bytes lie: a folder of this machine, or a place behind an fsspec URL. Paths are relative, with `/`."""

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
from worksample.files.copy_file import WriteFailed, copy_file, write_all

from .disk import Disk
from .error_translation import keeping

_FEW = 16
"""Above so many files one sync of the whole file system is quicker than one of each."""
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class FileBackend(Protocol):
    """What both kinds can do. A file is there whole or not at all."""

    name: str

    def has(self, path: str) -> bool: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...
    def write_file(self, path: str, source: Path) -> None: ...
    def list(self, folder: str) -> Iterator[str]: ...
    def folders(self, folder: str) -> Sequence[str]: ...
    def remove(self, path: str) -> None: ...


class LocalPlace:
    """A folder. Files are written beside their place, made read-only, and renamed into it."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self.name = str(root)
        self.disk = disk or Disk()
        self._named: set[Path] = set()
        """Folders whose own names are durable."""

    def path(self, path: str) -> Path:
        return self.root / path

    def has(self, path: str) -> bool:
        return self.path(path).is_file()

    def size(self, path: str) -> int | None:
        """Bytes, or None where there is no such file."""
        try:
            return self.path(path).stat().st_size
        except FileNotFoundError:
            return None

    def read(self, path: str) -> bytes:
        return self.path(path).read_bytes()

    def list(self, folder: str) -> Iterator[str]:
        """All files below `folder`, sorted."""
        top = self.path(folder)
        for level, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                yield f"{folder}/{(Path(level) / name).relative_to(top).as_posix()}"

    def folders(self, folder: str) -> Sequence[str]:
        """The names of the folders in `folder`, sorted."""
        with suppress(FileNotFoundError):
            return sorted(e.name for e in os.scandir(self.path(folder)) if e.is_dir())
        return []

    def remove(self, path: str) -> None:
        """Nothing happens where it is gone."""
        with keeping(self.name):
            self.path(path).unlink(missing_ok=True)

    def count(self, folder: str) -> int:
        """How many files lie in `folder`'s folders: quick."""
        with suppress(FileNotFoundError):
            return sum(len(os.listdir(e.path)) for e in os.scandir(self.path(folder)) if e.is_dir())  # noqa: PTH208
        return 0

    def sweep(self) -> None:
        """Remove what killed processes left in `tmp/` a day ago or longer."""
        old = time.time() - 86_400
        with suppress(FileNotFoundError):
            for entry in os.scandir(self.root / "tmp"):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < old:
                        _remove(Path(entry.path))

    def write(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Atomic. `durable`: on the disk before this returns. Raises StoreFull, StoreError."""
        with self.draft() as (fd, draft), keeping(self.name):
            write_all(fd, data)
            self._adopt(fd, draft, path, durable)

    def write_file(self, path: str, source: Path) -> None:
        with keeping(self.name):
            fd = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            try:
                self.write_open(lambda _: path, fd, os.fstat(fd).st_size, durable=True)
            finally:
                os.close(fd)

    def write_open(self, name: Any, fd: int, size: int, *, durable: bool) -> tuple[str, str, bool]:
        """Copy an open file to the path that `name(digest)` gives, unless one of its size is there.

        Returns digest, path, and whether it was written. OSError is reading's.
        """
        with self.draft() as (target, draft):
            try:
                poured = copy_file(fd, target, size)
            except WriteFailed as e:
                with keeping(self.name):
                    raise e.error from e
            path = str(name(poured.digest))
            missing = self.size(path) != poured.size
            if missing:
                with keeping(self.name):
                    self._adopt(target, draft, path, durable)
            return poured.digest, path, missing

    def settle(self, paths: Collection[str]) -> None:
        """Make files durable that were written without, whoever wrote them: contents and names."""
        folders = {self.path(path).parent for path in paths}
        with keeping(self.name):
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
        """A new file in `tmp/`, open for writing; removed at the end unless it was adopted."""
        draft = self.root / "tmp" / f"{os.getpid()}-{secrets.token_hex(8)}"
        with keeping(self.name):
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
        """The names in a folder, and, once, its own and those of the folders above: another process may have made
        them a moment ago and not come to sync them."""
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
    """Behind an fsspec URL, where a put is atomic (as in object stores)."""

    def __init__(self, url: str) -> None:
        import fsspec  # type: ignore[import-untyped]

        self.name = url
        try:
            fs, root = fsspec.core.url_to_fs(url)
        except ImportError as e:
            raise StoreError(f"no driver for this URL: {e}", where=url, next="pip install 'worksample[s3]'") from e
        except ValueError as e:
            raise StoreError(
                f"not a URL of a store: {e}", where=url, next="--store s3://BUCKET/STORE, or a folder"
            ) from e
        self._fs, self._root = fs, str(root).rstrip("/")

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    def has(self, path: str) -> bool:
        with keeping(self.name):
            return bool(self._fs.exists(self._at(path)))

    def read(self, path: str) -> bytes:
        with keeping(self.name, missing=FileNotFoundError):
            data: bytes = self._fs.cat_file(self._at(path))
            return data

    def write(self, path: str, data: bytes) -> None:
        with keeping(self.name):
            try:
                self._fs.pipe_file(self._at(path), data)
            except FileNotFoundError:
                self._fs.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)
                self._fs.pipe_file(self._at(path), data)

    def write_file(self, path: str, source: Path) -> None:
        with keeping(self.name):
            try:
                self._fs.put_file(str(source), self._at(path))
            except FileNotFoundError:
                self._fs.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)
                self._fs.put_file(str(source), self._at(path))

    def fetch(self, path: str, target: Path) -> None:
        """Copy a file here. FileNotFoundError where there is none."""
        with keeping(self.name, missing=FileNotFoundError):
            self._fs.get_file(self._at(path), str(target))

    def list(self, folder: str) -> Iterator[str]:
        """All files below `folder`, sorted."""
        with keeping(self.name):
            self._fs.invalidate_cache()
            found = sorted(str(p) for p in self._fs.find(self._at(folder)))
        start = len(self._root.lstrip("/")) + 1
        for path in found:
            yield path.lstrip("/")[start:]

    def folders(self, folder: str) -> Sequence[str]:
        """The names of the folders in `folder`, sorted."""
        with keeping(self.name):
            self._fs.invalidate_cache()
            try:
                found = self._fs.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return []
        return sorted(str(f["name"]).rstrip("/").rpartition("/")[2] for f in found if f["type"] == "directory")

    def remove(self, path: str) -> None:
        """Nothing happens where it is gone."""
        with keeping(self.name):
            try:
                self._fs.rm_file(self._at(path))
            except FileNotFoundError:
                return
