"""Manifests: folders as values, with every file's path, size and content digest.

File names are bytes on Linux, so a path is stored as text in which bytes that are not UTF-8, control characters and `%`
are written as `%XX`. `quote_path` and `unquote_path` are inverse for every possible file name.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from .base import Frozen

_ESCAPE = re.compile(rb"%([0-9A-F]{2})")


def quote_path(path: bytes) -> str:
    """Return a relative path as printable text."""
    out = []
    for char in path.decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            out.append(f"%{ord(char) - 0xDC00:02X}")
        elif char == "%" or not (char.isprintable() or char == " "):
            out.extend(f"%{b:02X}" for b in char.encode())
        else:
            out.append(char)
    return "".join(out)


def unquote_path(text: str) -> bytes:
    """Return the bytes of a quoted path."""
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 16)]), text.encode())


def path_fault(text: str) -> str | None:
    """Return why a quoted path cannot be placed below a folder (absolute, `..`, empty step, NUL), or None."""
    raw = unquote_path(text)
    if not raw or raw.startswith(b"/"):
        return "the path is empty or absolute"
    if b"\0" in raw:
        return "the path contains a NUL"
    if any(step in (b"", b".", b"..") for step in raw.split(b"/")):
        return "the path has an empty, '.' or '..' step"
    return None


class EntryKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class Entry(Frozen):
    """One name in a folder. A link is stored as text, never followed; `other` (device, socket, pipe) by name only."""

    path: str
    kind: EntryKind = EntryKind.FILE
    size: int = 0
    """Bytes of a file; 0 for anything else."""
    blob: str | None = None
    """Content digest of a file; None if the content was not taken in (`note` says why)."""
    executable: bool = False
    target: str | None = None
    note: str = ""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        fault = path_fault(self.path)
        if fault:
            raise ValueError(f"{self.path!r}: {fault}")
        return self


class Manifest(Frozen):
    """A folder's entries, sorted by path. Its digest is the folder's identity."""

    entries: tuple[Entry, ...] = ()

    @model_validator(mode="after")
    def _check_sorted(self) -> Self:
        paths = [e.path for e in self.entries]
        if paths != sorted(set(paths)):
            raise ValueError("the entries must be sorted by path, and each path may appear only once")
        return self

    @property
    def files(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.kind is EntryKind.FILE)

    @property
    def size(self) -> int:
        """Return the bytes of all files that were taken in; others may claim any size."""
        return sum(e.size for e in self.files if e.blob is not None)

    def find(self, path: str) -> Entry | None:
        return next((e for e in self.entries if e.path == path), None)
