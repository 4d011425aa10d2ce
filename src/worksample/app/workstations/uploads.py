"""Uploads of files into a box, in pieces, with checked names."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from typing import IO

from worksample.errors import UsageError
from worksample.records import path_fault, quote_path, unquote_path

LARGEST = 256 << 20
"""Most bytes of an uploaded file."""
LONGEST = 1000
"""Most bytes of a path."""
MOST = 4
"""Most files in upload at once at one workstation."""


def sound_path(path: str) -> str:
    """Return the path if it lies below the output folder. Raises UsageError for an unsafe or invalid path."""
    try:
        raw = path.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("the name of this file is not valid text", next="give the file another name") from None
    fault = path_fault(quote_path(raw))
    if fault is None and any(len(step) > 255 for step in raw.split(b"/")):
        fault = "the name has more than 255 bytes"
    if fault is None and len(raw) > LONGEST:
        fault = f"the path has more than {LONGEST} bytes"
    if fault is None and any(ord(c) < 32 or ord(c) == 127 for c in path):
        fault = "the name has control characters"
    if fault:
        raise UsageError(fault, next="give the file another name")
    return path


def place_below(folder: str, path: str) -> str:
    """Return the path in the box of a quoted path below `folder`. Raises UsageError for an unsafe path."""
    try:
        fault = path_fault(path)
    except UnicodeEncodeError:
        fault = "the path is not text"
    if fault:
        raise UsageError(
            fault, where=path[:LONGEST], next="name a file of the output folder, as the list of files does"
        )
    return f"{folder}/{os.fsdecode(unquote_path(path))}"


@dataclass
class Uploads:
    """Files in upload, by path."""

    coming: dict[str, IO[bytes]] = field(default_factory=dict)

    def add(self, path: str, offset: int, piece: bytes, *, last: bool) -> bytes | None:
        """Add a piece. Return the whole file with the last piece. Raises UsageError for a missing piece or a file too
        large.
        """
        sound_path(path)
        if offset == 0:
            self.drop(path)
            if len(self.coming) >= MOST:
                self.drop(next(iter(self.coming)))
            self.coming[path] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by drop
        held = self.coming.get(path)
        if held is None or held.tell() != offset:
            raise UsageError("a piece of this file is missing", next="send it again from its beginning")
        if offset + len(piece) > LARGEST:
            self.drop(path)
            raise UsageError(f"the file is larger than {LARGEST >> 20} MB", next="split the file, and upload its parts")
        held.write(piece)
        if not last:
            return None
        held.seek(0)
        whole = held.read()
        self.drop(path)
        return whole

    def drop(self, path: str) -> None:
        """Discard the pieces of a file."""
        held = self.coming.pop(path, None)
        if held is not None:
            held.close()

    def close(self) -> None:
        """Discard all pieces."""
        for path in tuple(self.coming):
            self.drop(path)
