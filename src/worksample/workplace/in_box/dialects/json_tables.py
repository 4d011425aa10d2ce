"""What a dialect keeps by itself, since no service has it: labels, merge requests. It is part of the state."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .http_messages import DialectRefused

MOST = 32 << 20
"""Bytes of one project's file."""


class JsonTables:
    """A table of JSON for each name, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()

    def read(self, name: str) -> dict[str, Any]:
        """The table; an empty one where nothing was kept."""
        with self._lock:
            try:
                found = json.loads((self._folder / f"{name}.json").read_bytes())
            except FileNotFoundError:
                return {}
        return dict(found)

    @contextmanager
    def edit(self, name: str) -> Iterator[dict[str, Any]]:
        """The table, to be changed by one at a time; kept at the end unless that raises."""
        with self._lock:
            found = self.read(name)
            yield found
            said = json.dumps(found, ensure_ascii=False)
            if len(said) > MOST:
                raise DialectRefused(413, "too much is kept of this project")
            self._folder.mkdir(parents=True, exist_ok=True)
            fresh = self._folder / f"{name}.new"
            fresh.write_text(said, encoding="utf-8")
            fresh.replace(self._folder / f"{name}.json")


def labels_of(kept: dict[str, Any], issue: object) -> list[str]:
    """An issue's labels, by their names."""
    return list(kept.get("issues", {}).get(str(issue), []))


def set_labels(kept: dict[str, Any], issue: object, names: list[str], colour: str = "#6699cc") -> None:
    """Give an issue these labels; those that the project has not are made."""
    for name in names:
        label_named(kept, name, colour)
    kept.setdefault("issues", {})[str(issue)] = list(dict.fromkeys(names))


def label_named(kept: dict[str, Any], name: str, colour: str = "#6699cc", about: str = "") -> dict[str, Any]:
    """The project's label of a name, made where there is none."""
    if not name or len(name) > 255:
        raise DialectRefused(400, "a label has a name of at most 255 characters")
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
