"""Sinks for contents: anything that takes bytes and returns their digest."""

from __future__ import annotations

import hashlib
from typing import Protocol

from .copy_file import copy_file


class Sink(Protocol):
    """A place for contents that names each by its SHA-256 (hex, 64 characters), such as `Store.blobs`."""

    def put(self, data: bytes) -> str:
        """Keep bytes and return their digest. Raises StoreError if they cannot be kept."""
        ...

    def put_file(self, fd: int, size: int) -> str:
        """Keep at most `size` bytes of an open file from its current offset on.

        The offset ends behind the last byte read. Raises OSError for reading, StoreError for keeping.
        """
        ...


class HashSink:
    """A sink that keeps nothing and only returns digests."""

    def put(self, data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    def put_file(self, fd: int, size: int) -> str:
        return copy_file(fd, None, size).digest
