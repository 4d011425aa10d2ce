"""Blobs: file contents by their SHA-256, stored once and never changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import BinaryIO, Protocol

from worksample.errors import RecordMissing, StoreError
from worksample.files.copy_file import copy_file
from worksample.records import canonical, digest_bytes

from .off_loop import warn_on_event_loop
from .storage_backend import LocalPlace, RemotePlace

_SMALL = 1 << 18
_SENDERS = 8
"""Blobs that are sent to an object store at once."""
_REMEMBERED = 200_000
"""Maximum number of durable blobs that a process remembers; it checks others again."""


def blob_path(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"


class BytesSink(Protocol):
    """Anything that keeps bytes under their digest."""

    def put(self, data: bytes) -> str: ...


def put_canonical(sink: BytesSink, value: object) -> str:
    """Keep a JSON value as a blob in its canonical form, and return the digest. ValueError for NaN."""
    return sink.put(canonical(value))


class Blobs:
    """A `Sink`. Files are at `blobs/<aa>/<digest>`, mode 0444; with a remote store the local files are its cache.

    A blob is durable (synced with its name, and sent if the store is remote) only after `flush`, which every
    `Store.commit` calls first.
    """

    def __init__(self, near: LocalPlace, far: RemotePlace | None = None) -> None:
        self._near, self._far = near, far
        self._fresh: dict[str, Future[None] | None] = {}
        """Blobs that may not be durable yet, and the thread that makes them so."""
        self._sure: set[str] = set()
        self._lock = threading.Lock()

    def put(self, data: bytes) -> str:
        """Store bytes, and return their digest. Raises StoreFull or StoreError."""
        warn_on_event_loop()
        digest = digest_bytes(data)
        path = blob_path(digest)
        # A file of another size was torn by a power cut: it is replaced.
        missing = self._near.size(path) != len(data)
        if missing:
            self._near.write(path, data, durable=False)
        self._note(path, missing)
        return digest

    def put_file(self, fd: int, size: int) -> str:
        """Store at most `size` bytes of an open file from its offset on. OSError comes from reading it."""
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
        """Store a file of this machine."""
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
        """Return the local file of a blob: read-only, never to be changed. Raises RecordMissing."""
        warn_on_event_loop()
        path = blob_path(digest)
        local = self._near.path(path)
        if not local.is_file():
            if self._far is None:
                raise self._missing(digest)
            self._fetch(self._far, path, digest)
        return local

    def paths(self, digests: Iterable[str | None]) -> dict[str, Path]:
        """Return the local files of blobs by digest; None is left out. Raises RecordMissing."""
        return {digest: self.path(digest) for digest in dict.fromkeys(digests) if digest is not None}

    def open(self, digest: str) -> BinaryIO:
        """Open a blob for reading. Raises RecordMissing."""
        return self.path(digest).open("rb")

    def read(self, digest: str, limit: int | None = None) -> bytes:
        """Return a blob's bytes, or the first `limit` of them. Raises RecordMissing."""
        with self.open(digest) as f:
            return f.read() if limit is None else f.read(limit)

    def all(self) -> Iterator[str]:
        """Yield every stored digest, sorted."""
        place = self._near if self._far is None else self._far
        for path in place.list("blobs"):
            yield path.rpartition("/")[2]

    def flush(self) -> None:
        """Make every blob durable that was put before, or wait for the thread that does."""
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
            # What another thread failed at is to be done again, here.
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
                    # Another file may have taken its place meanwhile.
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
                        StoreError("these blobs could not be made durable", next="worksample store check")
                    )

    def _note(self, path: str, written: bool) -> None:
        """Note a written or existing blob. An existing one may be another process's, which has not synced it yet."""
        with self._lock:
            if written:
                self._sure.discard(path)
                self._fresh[path] = None
            elif path not in self._sure:
                self._fresh.setdefault(path, None)

    def _send(self, far: RemotePlace, paths: list[str]) -> None:
        def one(path: str) -> None:
            source = self._near.path(path)
            # To ask costs as much as to send a little.
            if source.stat().st_size <= _SMALL or not far.has(path):
                far.write_file(path, source)

        with ThreadPoolExecutor(min(_SENDERS, len(paths))) as senders:
            for _ in senders.map(one, paths):
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
                        "a blob was damaged on its way",
                        where=f"{far.name}/{path}",
                        next="worksample store check --deep",
                    )
            self._near.write_file(path, draft)

    def _missing(self, digest: str) -> RecordMissing:
        where = f"{self._near.name if self._far is None else self._far.name}/{blob_path(digest)}"
        return RecordMissing("this blob is missing from the store", where=where, next="worksample store check")
