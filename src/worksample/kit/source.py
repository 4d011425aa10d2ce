"""Ownership of files: a malformed deliverable scores 0, but a malformed reference leaves the submission ungraded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from worksample.errors import DeliverableError, ReferenceUnreadable, WorksampleError

LIVE: ContextVar[bool] = ContextVar("live", default=False)
"""True while a part's result depends on a check of live services, which cannot be repeated."""
NOT_REGRADABLE = "seen live, not regradable"


class UnreadableSource(ValueError):
    """A malformed or too large file, as readers report it; `deliverable` or `reference` then assigns the blame.

    Outside both, the file counts as part of the task: the submission stays ungraded.
    """


@dataclass(frozen=True, slots=True)
class FileOwner:
    """The owner of a file, for faults that are found only when its content is read."""

    fault: type[DeliverableError] | type[ReferenceUnreadable]
    name: str

    def lacks(self, key: object, have: Iterable[object]) -> WorksampleError:
        """Return the error for a key or column that the content lacks."""
        shown = ", ".join(str(h)[:60] for h in list(have)[:20]) or "none"
        return self.fault(f"has no {key!r}; it has {shown}", where=self.name)


class Fields(dict[str, Any]):
    """A row or an object of a file. Reading a missing key raises the error of the file's owner instead of crashing the
    grader.
    """

    __slots__ = ("owner",)

    def __init__(self, values: Mapping[str, Any], owner: FileOwner) -> None:
        super().__init__(values)
        self.owner = owner

    def __missing__(self, key: str) -> NoReturn:
        raise self.owner.lacks(key, self)


@contextmanager
def deliverable(name: str) -> Iterator[None]:
    """Turn a file's faults into a DeliverableError: this part scores 0, with the reason."""
    try:
        yield
    except (UnreadableSource, OSError) as error:
        raise DeliverableError(_fault_text(error), where=name) from error


@contextmanager
def reference(name: str) -> Iterator[None]:
    """Turn a file's faults into ReferenceUnreadable: the submission stays ungraded."""
    try:
        yield
    except (UnreadableSource, OSError) as error:
        raise ReferenceUnreadable(_fault_text(error), where=name, next="worksample task check FOLDER") from error


def _fault_text(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    return str(error)


def find(folder: Path, name: str) -> Path:
    """Return the path of `name` below `folder`. Raises UnreadableSource for an unsound name, a missing file, or a link
    at any step.
    """
    steps = PurePosixPath(name).parts
    if not steps or PurePosixPath(name).is_absolute() or ".." in steps or "\0" in name:
        raise UnreadableSource("is not a name inside the folder")
    path = folder
    for step in steps:
        path = path / step
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            raise UnreadableSource("is missing") from None
        except UnicodeEncodeError:
            raise UnreadableSource("is not a valid file name") from None
        if stat.S_ISLNK(mode):
            raise UnreadableSource("is a link, which is never followed")
    return path


def file_in(folder: Path, name: str) -> Path:
    """Return the path of a regular file. Raises UnreadableSource as `find`, or if it is not a regular file."""
    path = find(folder, name)
    if not stat.S_ISREG(path.lstat().st_mode):
        raise UnreadableSource("is not a file")
    return path


def files_below(folder: Path, pattern: str, limit: int = 10_000) -> list[str]:
    """Return the names of the regular files below `folder` that match a glob, sorted, without links. Raises
    UnreadableSource over `limit`.
    """
    found: list[str] = []
    for where, folders, files in os.walk(folder, followlinks=False):
        folders.sort()
        for file in files:
            path = Path(where) / file
            name = path.relative_to(folder)
            if name.match(pattern) and stat.S_ISREG(path.lstat().st_mode):
                found.append(name.as_posix())
                if len(found) > limit:
                    raise UnreadableSource(f"has more than {limit} files")
    return sorted(found)


def read_bytes(path: Path, limit: int) -> bytes:
    """Return all bytes of a file. Raises UnreadableSource over `limit` bytes."""
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableSource(f"is larger than {limit:,} bytes")
    return data
