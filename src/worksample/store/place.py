"""Where bytes lie: a folder of this machine, or a place behind an fsspec URL. Paths are relative, with `/`."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from worksample.errors import StoreError
from worksample.files.pour import WriteFailed, pour, write_all

from .faults import keeping

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Place(Protocol):
    """What both kinds can do. A file is there whole or not at all."""

    name: str

    def has(self, path: str) -> bool: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...
    def write_file(self, path: str, source: Path) -> None: ...
    def list(self, folder: str) -> Iterator[str]: ...


class LocalPlace:
    """A folder. Files are written beside their place, made read-only, and renamed into it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = str(root)

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

    def write_open(self, name: Any, fd: int, size: int, *, durable: bool) -> tuple[str, str]:
        """Copy an open file to the path that `name(digest)` gives; returns digest and path. OSError is reading's."""
        with self.draft() as (target, draft):
            try:
                poured = pour(fd, target, size)
            except WriteFailed as e:
                with keeping(self.name):
                    raise e.error from e
            path = str(name(poured.digest))
            if self.size(path) != poured.size:
                with keeping(self.name):
                    self._adopt(target, draft, path, durable)
            return poured.digest, path

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
            os.fsync(fd)
        target = self.path(path)
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            if durable:
                sync_folder(target.parent.parent)
        draft.rename(target)
        if durable:
            sync_folder(target.parent)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def sync_folder(folder: Path) -> None:
    """Make a folder's names durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


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
            raise StoreError(f"not a URL of a store: {e}", where=url) from e
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
