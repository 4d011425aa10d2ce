"""Copy of an open file that also computes its digest. Runs of zeros become holes, so that sparse files stay small."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

CHUNK = 1 << 18
_ZEROS = bytes(CHUNK)


@dataclass(frozen=True, slots=True)
class FileCopy:
    digest: str
    """SHA-256 of the bytes read."""
    size: int
    """Bytes read."""


class WriteFailed(Exception):
    """A failure to write the copy, as opposed to reading the source."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


def copy_file(source: int, target: int | None, size: int) -> FileCopy:
    """Read at most `size` bytes of `source` from its current offset, and write them to `target` if it is given.

    target: an empty file at offset 0. Raises OSError for reading, WriteFailed for writing.
    """
    state, done = hashlib.sha256(), 0
    while done < size:
        chunk = os.read(source, min(CHUNK, size - done))
        if not chunk:
            break
        state.update(chunk)
        done += len(chunk)
        if target is not None:
            _write(target, chunk)
    if target is not None:
        try:
            os.ftruncate(target, done)
        except OSError as e:
            raise WriteFailed(e) from e
    return FileCopy(state.hexdigest(), done)


def _write(target: int, chunk: bytes) -> None:
    try:
        if len(chunk) == CHUNK and chunk == _ZEROS:
            os.lseek(target, CHUNK, os.SEEK_CUR)
        else:
            write_all(target, chunk)
    except OSError as e:
        raise WriteFailed(e) from e


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, repeating after short writes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
