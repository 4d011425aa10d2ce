"""Tables that a dialect stores itself because no service has them, such as labels and merge requests. The tables are
part of the workplace's state.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .http_messages import DialectRefused

MOST = 32 << 20
"""Maximum bytes of the file of one project."""


_LOCKS: dict[Path, threading.RLock] = {}
"""The lock of each folder. Several dialects may use one folder."""


class JsonTables:
    """A folder with one JSON table per name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = _LOCKS.setdefault(folder, threading.RLock())

    def read(self, name: str) -> dict[str, Any]:
        """Return the table of a name. Return an empty table if nothing was stored."""
        with self._lock:
            try:
                found = json.loads((self._folder / f"{name}.json").read_bytes())
            except FileNotFoundError:
                return {}
        return dict(found)

    def remove(self, name: str) -> None:
        """Remove the table of a name."""
        with self._lock:
            (self._folder / f"{name}.json").unlink(missing_ok=True)

    @contextmanager
    def edit(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield a table, so that the caller can change it in the `with` block. Only one caller at a time can do so. The
        table is stored at the end of the block unless the block raises an error.
        """
        with self._lock:
            found = self.read(name)
            yield found
            said = json.dumps(found, ensure_ascii=False)
            if len(said) > MOST:
                raise DialectRefused(413, "the data of this project is too large")
            self._folder.mkdir(parents=True, exist_ok=True)
            fresh = self._folder / f"{name}.new"
            fresh.write_text(said, encoding="utf-8")
            fresh.replace(self._folder / f"{name}.json")


def number_of(kept: dict[str, Any], issue: int) -> int:
    """Return the number of an issue in its project. It is the tracker's number unless the company gave numbers; then
    issues that are newer than the company follow the highest of these.
    """
    if "base" not in kept:
        return issue
    last, highest = kept["base"]
    return int(kept["numbers"].get(str(issue), last + issue - highest))


def issue_with_number(kept: dict[str, Any], number: str) -> str:
    """Return the tracker's number of the issue that has a number in its project."""
    if "base" not in kept or not number.isdigit():
        return number
    last, highest = kept["base"]
    own = {str(value): key for key, value in kept["numbers"].items()}
    return own.get(number) or (str(int(number) - last + highest) if int(number) > last else "0")


def labels_of(kept: dict[str, Any], issue: object) -> list[str]:
    """Return the names of an issue's labels."""
    return list(kept.get("issues", {}).get(str(issue), []))


def set_labels(kept: dict[str, Any], issue: object, names: list[str], colour: str = "#6699cc") -> None:
    """Set the labels of an issue. Labels that the project lacks are created."""
    for name in names:
        label_named(kept, name, colour)
    kept.setdefault("issues", {})[str(issue)] = list(dict.fromkeys(names))


def label_named(kept: dict[str, Any], name: str, colour: str = "#6699cc", about: str = "") -> dict[str, Any]:
    """Return the label of a project with this name. If it is missing, create it."""
    if not name or len(name) > 255:
        raise DialectRefused(400, "a label needs a name of at most 255 characters")
    labels = kept.setdefault("labels", [])
    for one in labels:
        if one["name"] == name:
            return dict(one)
    made = {
        "id": max((one["id"] for one in labels), default=0) + 1,
        "name": name,
        "color": colour,
        "description": about,
    }
    labels.append(made)
    return dict(made)
