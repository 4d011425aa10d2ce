"""Which paths are deliverables: by name, by pattern, or inside a folder that is one."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def is_deliverable(path: str, names: Iterable[str]) -> bool:
    return any(fnmatchcase(path, name) or (name.endswith("/") and path.startswith(name)) for name in names)
