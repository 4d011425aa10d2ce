"""Manifests: lists of all files in a folder, with path, size and content digest.

File names on Linux are bytes, so a path is stored as text. Control characters, `%` and bytes that are not UTF-8 are
written as `%XX`. `unquote_path` restores the bytes of every path that `quote_path` wrote.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from .base import Frozen

_ESCAPE = re.compile(rb"%([0-9A-F]{2})")


def quote_path(path: bytes) -> str:
    """Return a relative path as printable text, with `%XX` for bytes that cannot be printed."""
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
    """Return the bytes of a path that `quote_path` wrote as text."""
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 16)]), text.encode())


def path_fault(text: str) -> str | None:
    """Return why a quoted path is not allowed in a manifest, or None if it is allowed.

    A path must not be absolute, and must not contain `..`, `.`, NUL or empty names.
    """
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
    """A file, folder, symbolic link or other object in a folder. `other` is a device, socket or pipe. The target of a
    symbolic link is stored as text, and the link is never followed.
    """

    path: str
    kind: EntryKind = EntryKind.FILE
    size: int = 0
    """Size of a file in bytes; 0 for folders, links and other objects."""
    blob: str | None = None
    """Digest of the file's content. None if the content was not captured; `note` then says why."""
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
    """The entries of a folder, sorted by path. The digest of the manifest identifies the folder's content."""

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
        """Return the total size of all captured files in bytes. Files that were not captured are not counted, because
        their claimed size is not verified.
        """
        return sum(e.size for e in self.files if e.blob is not None)

    def find(self, path: str) -> Entry | None:
        return next((e for e in self.entries if e.path == path), None)
