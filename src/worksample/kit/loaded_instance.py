"""An instance of a task that a program makes: the values that the function `load` of a `task.py` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .broker_client import pack


@dataclass(frozen=True)
class LoadedInstance:
    """An instance that the function `load` of a `task.py` returns."""

    name: str
    """Lower case letters, digits, `.`, `_` and `-`."""
    title: str = ""
    brief: str = ""
    """The text for the agent; if empty, the task's `brief.md`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str | bytes] = field(default_factory=dict)
    """Path below the inputs -> content."""
    reference: Mapping[str, str | bytes] = field(default_factory=dict)
    """Path below the reference -> content."""

    def plain(self) -> dict[str, Any]:
        """Return the instance as JSON types, with Base64 for contents. Raises TypeError if a field has another type."""
        texts = (self.name, self.title, self.brief)
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.settings, Mapping):
            raise TypeError("name, title and brief of an instance must be texts, and settings a dict")
        files = {name: _encode(getattr(self, name)) for name in ("inputs", "reference")}
        return {"name": self.name, "title": self.title, "brief": self.brief, "settings": dict(self.settings), **files}


def _encode(files: Mapping[str, str | bytes]) -> dict[str, str]:
    found = {}
    for path, content in files.items():
        if not isinstance(path, str) or not isinstance(content, (str, bytes)):
            raise TypeError("inputs and reference of an instance map paths to texts or bytes")
        found[path] = pack(content.encode() if isinstance(content, str) else content)
    return found
