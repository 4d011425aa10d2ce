"""Failures of disks, remote places and databases, as the store's own errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from worksample.errors import StoreError, StoreFull

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def full(where: str) -> StoreFull:
    return StoreFull(
        "no space left for records and blobs",
        where=where,
        next="free some space there, then run the same command again: nothing that was committed is lost",
    )


@contextmanager
def keeping(where: str, *, missing: type[OSError] | None = None) -> Iterator[None]:
    """Turn OSError into StoreFull or StoreError; let `missing` (a kind of OSError) pass."""
    try:
        yield
    except OSError as e:
        if missing is not None and isinstance(e, missing):
            raise
        if e.errno in FULL:
            raise full(where) from e
        text = e.strerror or str(e)
        named = isinstance(e, PermissionError | FileNotFoundError | NotADirectoryError | FileExistsError)
        step = (
            "name a place that can be read and written, or: worksample store check"
            if named
            else "worksample store check"
        )
        raise StoreError(text, where=where, next=step) from e
