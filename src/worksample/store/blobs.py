"""Blobs: contents of files, named by their SHA-256 digest. Each content is stored once and never changed."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol

from worksample.errors import RecordMissing, StoreError
from worksample.files import materialise, read_manifest
from worksample.files.copy_file import copy_file
from worksample.records import Manifest, canonical, digest_bytes

from .event_loop_warning import warn_on_event_loop
from .storage_backend import LocalPlace, RemotePlace

_SMALL = 1 << 18
_SENDERS = 8
"""Number of blobs that are uploaded to remote storage at the same time."""
_REMEMBERED = 200_000
"""Maximum number of blobs that a process remembers as durable. If a blob is not remembered, the process checks it
again.
"""


def blob_path(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"


class BytesSink(Protocol):
    """Storage that stores bytes under their digest."""

    def put(self, data: bytes) -> str: ...


def put_canonical(sink: BytesSink, value: object) -> str:
    """Store a JSON value as a blob in canonical form, and return the digest of the blob. Raises ValueError if the value
    contains NaN.
    """
    return sink.put(canonical(value))


class Blobs:
    """Sink that stores blobs. The file of a blob is `blobs/<aa>/<digest>` with mode 0444; `<aa>` is the start of the
    digest. If the store is remote, the local files are a cache.

    A blob is durable only after `flush`: its content and its name are synced, and a remote store has received it. Every
    `Store.commit` calls `flush` first.
    """

    def __init__(self, near: LocalPlace, far: RemotePlace | None = None) -> None:
        self._near, self._far = near, far
        self._fresh: dict[str, Future[None] | None] = {}
        """Paths of blobs that may not be durable yet. The value is the result of the thread that makes the blob
        durable, or None if no thread does.
        """
        self._sure: set[str] = set()
        self._lock = threading.Lock()

    def put(self, data: bytes) -> str:
        """Store bytes, and return their digest. Raises StoreFull or StoreError."""
        warn_on_event_loop()
        digest = digest_bytes(data)
        path = blob_path(digest)
        # A file of another size was damaged by a power cut: replace it.
        missing = self._near.size(path) != len(data)
        if missing:
            self._near.write(path, data, durable=False)
        self._note(path, missing)
        return digest

    def put_file(self, fd: int, size: int) -> str:
        """Store at most `size` bytes of an open file, starting at its present offset. A failure to read the file raises
        OSError.
        """
        warn_on_event_loop()
        if size <= _SMALL:
            parts, left = [], size
            while left > 0 and (chunk := os.read(fd, left)):
                parts.append(chunk)
                left -= len(chunk)
            return self.put(b"".join(parts))
        digest, path, missing = self._near.write_open(blob_path, fd, size, durable=False)
        self._note(path, missing)
        return digest

    def put_path(self, path: Path) -> str:
        """Store the content of a file on this machine, and return its digest."""
        with path.open("rb") as f:
            return self.put_file(f.fileno(), os.fstat(f.fileno()).st_size)

    def has(self, digest: str) -> bool:
        path = blob_path(digest)
        if self._far is None:
            return self._near.has(path)
        with self._lock:
            known = path in self._fresh or path in self._sure
        return known or self._far.has(path)

    def path(self, digest: str) -> Path:
        """Return the local file of a blob. The file is read-only and must not be changed. Raises RecordMissing if the
        store lacks the blob.
        """
        warn_on_event_loop()
        path = blob_path(digest)
        local = self._near.path(path)
        if not local.is_file():
            if self._far is None:
                raise self._missing(digest)
            self._fetch(self._far, path, digest)
        return local

    def paths(self, digests: Iterable[str | None]) -> dict[str, Path]:
        """Return the local files of blobs, by digest. None in `digests` is ignored. Raises RecordMissing if the store
        lacks a blob.
        """
        return {digest: self.path(digest) for digest in dict.fromkeys(digests) if digest is not None}

    def open(self, digest: str) -> BinaryIO:
        """Open a blob for reading. Raises RecordMissing if the store lacks the blob."""
        return self.path(digest).open("rb")

    def read(self, digest: str, limit: int | None = None) -> bytes:
        """Return the bytes of a blob; with `limit`, only the first `limit` bytes. Raises RecordMissing if the store
        lacks the blob.
        """
        with self.open(digest) as f:
            return f.read() if limit is None else f.read(limit)

    def all(self) -> Iterator[str]:
        """Yield the digests of all stored blobs, sorted."""
        place = self._near if self._far is None else self._far
        for path in place.list("blobs"):
            yield path.rpartition("/")[2]

    def flush(self) -> None:
        """Make all blobs durable that were stored so far. If another thread is making a blob durable, wait for that
        thread.
        """
        while True:
            mine, others = dict[str, Future[None]](), list[Future[None]]()
            with self._lock:
                for path, work in self._fresh.items():
                    if work is None:
                        mine[path] = Future()
                    else:
                        others.append(work)
                self._fresh.update(mine)
            if mine:
                self._settle(mine)
            wait(others)
            # Repeat in this thread what another thread failed to do.
            if all(work.exception() is None for work in others):
                return

    def _settle(self, mine: dict[str, Future[None]]) -> None:
        done = False
        try:
            self._near.settle(mine)
            if self._far is not None:
                self._send(self._far, list(mine))
            done = True
        finally:
            with self._lock:
                if len(self._sure) > _REMEMBERED:
                    self._sure.clear()
                for path, work in mine.items():
                    # The blob may have been written again in the meantime.
                    if self._fresh.get(path) is work:
                        if done:
                            self._fresh.pop(path)
                            self._sure.add(path)
                        else:
                            self._fresh[path] = None
            for work in mine.values():
                if done:
                    work.set_result(None)
                else:
                    work.set_exception(
                        StoreError(
                            "the blobs could not be written safely to the disk (fsync failed)",
                            next="worksample store check",
                        )
                    )

    def _note(self, path: str, written: bool) -> None:
        """Remember that a blob may not be durable. This includes blobs that already existed, because another process
        may have written them without syncing them yet.
        """
        with self._lock:
            if written:
                self._sure.discard(path)
                self._fresh[path] = None
            elif path not in self._sure:
                self._fresh.setdefault(path, None)

    def _send(self, far: RemotePlace, paths: list[str]) -> None:
        def send_if_missing(path: str) -> None:
            source = self._near.path(path)
            # Asking costs as much as sending a small file.
            if source.stat().st_size <= _SMALL or not far.has(path):
                far.write_file(path, source)

        with ThreadPoolExecutor(min(_SENDERS, len(paths))) as senders:
            for _ in senders.map(send_if_missing, paths):
                pass

    def _fetch(self, far: RemotePlace, path: str, digest: str) -> None:
        with self._near.draft() as (_, draft):
            try:
                far.fetch(path, draft)
            except FileNotFoundError as e:
                raise self._missing(digest) from e
            with draft.open("rb") as f:
                size = draft.stat().st_size
                if copy_file(f.fileno(), None, size).digest != digest:
                    raise StoreError(
                        "a blob was damaged while it was copied",
                        where=f"{far.name}/{path}",
                        next="worksample store check --deep",
                    )
            self._near.write_file(path, draft)

    def _missing(self, digest: str) -> RecordMissing:
        where = f"{self._near.name if self._far is None else self._far.name}/{blob_path(digest)}"
        return RecordMissing("this blob is missing from the store", where=where, next="worksample store check")


class ManifestFolders:
    """Folders below `root` with the files of manifests, named by manifest digest. The files are hard links to blobs, so
    the folders may only be mounted or read.
    """

    def __init__(self, root: Path, drafts: Path, blobs: Blobs) -> None:
        self._root, self._drafts, self._blobs = root, drafts, blobs
        self.manifest = lru_cache(maxsize=256)(self._manifest)

    def _manifest(self, digest: str) -> Manifest:
        return read_manifest(self._blobs.read(digest))

    def path(self, digest: str) -> Path:
        """Return the folder of a manifest, and create the folder if it is missing. Several processes may call this at
        the same time.
        """
        target = self._root / digest[:2] / digest
        if target.is_dir():
            return target
        manifest = self.manifest(digest)
        draft = self._drafts / f"folder-{secrets.token_hex(8)}"
        try:
            paths = self._blobs.paths(entry.blob for entry in manifest.entries)
            materialise(manifest, paths.__getitem__, draft, links=True, share=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Another process may have created the same folder first.
            with suppress(FileExistsError, NotADirectoryError):
                _rename(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return target


def _rename(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError:
        if not target.is_dir():
            raise
