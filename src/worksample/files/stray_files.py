"""Files that desktops, editors and archivers create next to people's work. They never belong to the work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_FOLDERS = ("__macosx", ".appledouble", ".spotlight-v100", ".trashes", ".fseventsd", ".temporaryitems")
_FILES = (".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r")
_OFFICE = (".doc", ".docx", ".docm", ".xls", ".xlsx", ".xlsm", ".ppt", ".pptx", ".pptm", ".rtf", ".vsdx")
_SWAP = (".swp", ".swo", ".swn", ".swx")
"""Endings of Vim's swap files: `.report.md.swp`."""


def is_stray_file(path: str) -> bool:
    """Return whether macOS, Windows, an office program or an editor created a step of the path, such as
    `__MACOSX/._a.csv`.

    This includes names that begin with `._` (macOS keeps a file's attributes there), and lock files of open documents.
    """
    return any(_is_stray_name(step.casefold()) for step in path.split("/"))


def _is_stray_name(name: str) -> bool:
    return (
        name in _FOLDERS
        or name in _FILES
        or (name.startswith("._") and len(name) > 2)
        or (name.startswith("~$") and name.endswith(_OFFICE))
        or (name.startswith("~wrl") and name.endswith(".tmp"))
        or (name.startswith(".") and name.endswith(_SWAP))
        or (name.startswith(".#") and len(name) > 2)
        or (name.startswith(".~lock.") and name.endswith("#"))
    )


def stray_files_below(root: Path) -> list[str]:
    """Return the paths of stray files below a folder. A stray folder is listed once."""
    found = []
    for where, folders, files in os.walk(root, followlinks=False):
        at = Path(where).relative_to(root)
        found += [(at / name).as_posix() for name in (*folders, *files) if _is_stray_name(name.casefold())]
        folders[:] = [name for name in folders if not _is_stray_name(name.casefold())]
    return found


def stray_files_note(paths: Iterable[str]) -> str:
    """Describe which stray files were left out; "" if none were."""
    found = sorted(set(paths))
    if not found:
        return ""
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return f"left out what a desktop, an editor or an archiver wrote beside the work: {', '.join(found[:5])}{more}"
