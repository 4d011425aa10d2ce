"""Blame for unreadable files: a malformed deliverable scores 0, but a malformed reference leaves the submission
ungraded.
"""

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
"""True while the result of the current part depends on a check of running services, which cannot be repeated later."""
NOT_REGRADABLE = "seen live, not regradable"


class UnreadableSource(ValueError):
    """A file that is malformed or too large. Readers raise this error without knowing whose file they read.

    The context managers `deliverable` and `reference` convert the error to DeliverableError or ReferenceUnreadable.
    Without either, the file counts as part of the task: the submission stays ungraded.
    """


@dataclass(frozen=True, slots=True)
class FileOwner:
    """The owner of a file, agent or task. The owner determines which error is raised if a fault is found when the
    file's content is used.
    """

    fault: type[DeliverableError] | type[ReferenceUnreadable]
    name: str

    def lacks(self, key: object, have: Iterable[object]) -> WorksampleError:
        """Return the error for a missing key or column. have: the keys or columns that exist."""
        shown = ", ".join(str(h)[:60] for h in list(have)[:20]) or "none"
        return self.fault(f"has no {key!r}; it has {shown}", where=self.name)


class Fields(dict[str, Any]):
    """A row of a table, or a JSON object. Reading a missing key raises the error of the file's owner, so that the right
    side is blamed.
    """

    __slots__ = ("owner",)

    def __init__(self, values: Mapping[str, Any], owner: FileOwner) -> None:
        super().__init__(values)
        self.owner = owner

    def __missing__(self, key: str) -> NoReturn:
        raise self.owner.lacks(key, self)


@contextmanager
def deliverable(name: str) -> Iterator[None]:
    """Context manager that converts errors of reading a file to DeliverableError: the part of the grade scores 0. name:
    the deliverable's name.
    """
    try:
        yield
    except (UnreadableSource, OSError) as error:
        raise DeliverableError(_fault_text(error), where=name) from error


@contextmanager
def reference(name: str) -> Iterator[None]:
    """Context manager that converts errors of reading a file to ReferenceUnreadable: the submission stays ungraded.
    name: the file's name.
    """
    try:
        yield
    except (UnreadableSource, OSError) as error:
        raise ReferenceUnreadable(_fault_text(error), where=name, next="worksample task check FOLDER") from error


def _fault_text(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    return str(error)


def find(folder: Path, name: str) -> Path:
    """Return the path of `name` below `folder`. Raises UnreadableSource if the name leads outside the folder, the file
    is missing, or a part of the path is a symbolic link.
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
    """Return the path of the regular file `name` below `folder`. Raises UnreadableSource if the name leads outside the
    folder, a part of the path is a symbolic link, or there is no regular file.
    """
    path = find(folder, name)
    if not stat.S_ISREG(path.lstat().st_mode):
        raise UnreadableSource("is not a file")
    return path


def files_below(folder: Path, pattern: str, limit: int = 10_000) -> list[str]:
    """Return the names of the regular files below `folder` that match a glob, in alphabetical order. Symbolic links are
    left out. Raises UnreadableSource if more than `limit` files match.
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
    """Return all bytes of a file. Raises UnreadableSource if the file has more than `limit` bytes."""
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableSource(f"is larger than {limit:,} bytes")
    return data
