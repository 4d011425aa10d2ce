"""Where contents go: anything that takes bytes and answers with their digest."""

from __future__ import annotations

import hashlib
from typing import Protocol

from worksample.records import canonical

from .copy_file import copy_file


class Sink(Protocol):
    """Takes contents in and names each by its SHA-256 (hex, 64 characters). `Store.blobs` is one."""

    def put(self, data: bytes) -> str:
        """Take in bytes. Raises StoreError where they cannot be kept."""
        ...

    def put_file(self, fd: int, size: int) -> str:
        """Take in at most `size` bytes of an open file from its current offset on.

        Leaves the offset behind the last byte taken. OSError comes from reading, StoreError from keeping.
        """
        ...


class BytesSink(Protocol):
    """Anything that keeps bytes under their digest."""

    def put(self, data: bytes) -> str: ...


def put_canonical(sink: BytesSink, value: object) -> str:
    """Keep a JSON value as a blob in its canonical form, and return the digest. ValueError for NaN."""
    return sink.put(canonical(value))


class HashSink:
    """Keeps nothing; digests only."""

    def put(self, data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    def put_file(self, fd: int, size: int) -> str:
        return copy_file(fd, None, size).digest
