"""Contents by their SHA-256, kept once and never changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from worksample.errors import RecordMissing, StoreError
from worksample.files.pour import pour
from worksample.records import digest_bytes

from .faults import keeping
from .place import LocalPlace, RemotePlace

_SMALL = 1 << 18
_FEW = 16
"""Above so many new blobs one sync of everything is quicker than one of each."""


def blob_path(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"


class Blobs:
    """A `Sink`. Files lie at `blobs/<aa>/<digest>`, mode 0444; with a remote store the local ones are its cache.

    New blobs are on the disk for sure only after `flush`, which every `Store.commit` calls first.
    """

    def __init__(self, near: LocalPlace, far: RemotePlace | None = None) -> None:
        self._near, self._far = near, far
        self._fresh: set[str] = set()
        self._lock = threading.Lock()

    def put(self, data: bytes) -> str:
        """Keep bytes; returns their digest. Raises StoreFull, StoreError."""
        digest = digest_bytes(data)
        path = blob_path(digest)
        # A file of another size was torn by a power cut: it is replaced.
        if self._near.size(path) != len(data):
            self._near.write(path, data, durable=False)
            self._note(path)
        self._send(path)
        return digest

    def put_file(self, fd: int, size: int) -> str:
        """Keep at most `size` bytes of an open file from its offset on; OSError comes from reading it."""
        if size <= _SMALL:
            parts, left = [], size
            while left > 0 and (chunk := os.read(fd, left)):
                parts.append(chunk)
                left -= len(chunk)
            return self.put(b"".join(parts))
        digest, path = self._near.write_open(blob_path, fd, size, durable=False)
        self._note(path)
        self._send(path)
        return digest

    def put_path(self, path: Path) -> str:
        """Keep a file of this machine."""
        with path.open("rb") as f:
            return self.put_file(f.fileno(), os.fstat(f.fileno()).st_size)

    def has(self, digest: str) -> bool:
        path = blob_path(digest)
        return self._near.has(path) if self._far is None else self._far.has(path)

    def path(self, digest: str) -> Path:
        """The local file that holds it: read-only, never to be changed. Raises RecordMissing."""
        path = blob_path(digest)
        local = self._near.path(path)
        if not local.is_file():
            if self._far is None:
                raise self._missing(digest)
            self._fetch(self._far, path, digest)
        return local

    def open(self, digest: str) -> BinaryIO:
        """Open it for reading. Raises RecordMissing."""
        return self.path(digest).open("rb")

    def read(self, digest: str, limit: int | None = None) -> bytes:
        """Its bytes, the first `limit` of them where given. Raises RecordMissing."""
        with self.open(digest) as f:
            return f.read() if limit is None else f.read(limit)

    def all(self) -> Iterator[str]:
        """Every digest that is kept, sorted."""
        place = self._near if self._far is None else self._far
        for path in place.list("blobs"):
            yield path.rpartition("/")[2]

    def flush(self) -> None:
        """Put all new blobs on the disk for sure."""
        with self._lock:
            fresh, self._fresh = self._fresh, set()
        if len(fresh) > _FEW:
            os.sync()
            return
        with keeping(self._near.name):
            for path in fresh:
                fd = os.open(self._near.path(path), os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)

    def _note(self, path: str) -> None:
        if self._far is None:
            with self._lock:
                self._fresh.add(path)

    def _send(self, path: str) -> None:
        if self._far is not None and not self._far.has(path):
            self._far.write_file(path, self._near.path(path))

    def _fetch(self, far: RemotePlace, path: str, digest: str) -> None:
        with self._near.draft() as (_, draft):
            try:
                far.fetch(path, draft)
            except FileNotFoundError as e:
                raise self._missing(digest) from e
            with draft.open("rb") as f:
                size = draft.stat().st_size
                if pour(f.fileno(), None, size).digest != digest:
                    raise StoreError(
                        "a blob arrived damaged", where=f"{far.name}/{path}", next="worksample store check --deep"
                    )
            self._near.write_file(path, draft)

    def _missing(self, digest: str) -> RecordMissing:
        where = f"{self._near.name if self._far is None else self._far.name}/{blob_path(digest)}"
        return RecordMissing("the store lacks this blob", where=where, next="worksample store check")
