"""Sinks: storage that takes content and returns its digest."""

from __future__ import annotations

import hashlib
from typing import Protocol

from .copy_file import copy_file


class Sink(Protocol):
    """Storage for contents that names each by its SHA-256 (hex, 64 characters), such as `Store.blobs`."""

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest. Raises StoreError if they cannot be stored."""
        ...

    def put_file(self, fd: int, size: int) -> str:
        """Store at most `size` bytes of an open file from its current offset on, and return their digest.

        The offset ends after the last byte read. Raises OSError for reading, StoreError for storing.
        """
        ...


class HashSink:
    """A sink that stores nothing and only returns digests."""

    def put(self, data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    def put_file(self, fd: int, size: int) -> str:
        return copy_file(fd, None, size).digest
