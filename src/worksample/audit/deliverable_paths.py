"""The test whether a path is a deliverable: by name, by pattern, or inside a deliverable folder."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def is_deliverable(path: str, names: Iterable[str]) -> bool:
    return any(fnmatchcase(path, name) or (name.endswith("/") and path.startswith(name)) for name in names)
