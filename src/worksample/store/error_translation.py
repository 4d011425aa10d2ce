"""Translate failures of disks, remote storage and databases to the store's errors."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worksample.errors import StoreError, StoreFull

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def store_full(where: str) -> StoreFull:
    return StoreFull(
        "no space left for records and blobs",
        where=where,
        next="free some space there, then run the same command again: nothing that was committed is lost",
    )


@contextmanager
def translate_os_errors(
    where: str,
    *,
    missing: type[OSError] | None = None,
    passing: Callable[[OSError], StoreError | None] = lambda _: None,
) -> Iterator[None]:
    """Turn OSError into StoreFull or StoreError within the block. Errors of the type `missing` are raised unchanged.

    `passing`: returns the error of a fault that passes, None for others.
    """
    try:
        yield
    except OSError as e:
        if missing is not None and isinstance(e, missing):
            raise
        if e.errno in FULL:
            raise store_full(where) from e
        if (fault := passing(e)) is not None:
            raise fault from e
        text = e.strerror or str(e)
        named = isinstance(e, PermissionError | FileNotFoundError | NotADirectoryError | FileExistsError)
        step = (
            "name a place that can be read and written, or: worksample store check"
            if named
            else "worksample store check"
        )
        raise StoreError(text, where=where, next=step) from e
