"""Actions that agents can take by a tool, with their parameters. The agents' own tools and the MCP servers are built
from tables of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
_ITEMS = {"strings": "string", "numbers": "number", "objects": "object"}
LONGEST = 100_000
"""Maximum characters of a text argument of an action."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action. `kind` is a JSON type, or `strings`, `numbers` or `objects` for a list."""

    kind: str
    about: str
    needed: bool = True
    allowed: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return the parameter as JSON Schema."""
        out: dict[str, Any] = {"description": self.about}
        out |= {"type": "array", "items": {"type": _ITEMS[self.kind]}} if self.kind in _ITEMS else {"type": self.kind}
        return {**out, "enum": list(self.allowed)} if self.allowed else out


@dataclass(frozen=True, slots=True)
class ToolAction:
    """An action that an agent can take by a tool."""

    name: str
    about: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def schema(self) -> dict[str, Any]:
        """Return the parameters as JSON Schema."""
        return {
            "type": "object",
            "properties": {key: one.schema() for key, one in self.parameters.items()},
            "required": [key for key, one in self.parameters.items() if one.needed],
        }

    def wrong(self, given: Mapping[str, Any]) -> str:
        """Return why the arguments in `given` are invalid for this action, or "" if they are valid."""
        if unknown := sorted(set(given) - set(self.parameters)):
            return f"{self.name} takes no {unknown[0]!r}; it takes {', '.join(self.parameters) or 'nothing'}"
        for key, one in self.parameters.items():
            if given.get(key) is None:
                if one.needed:
                    return f"{self.name} needs {key!r}: {one.about}"
                continue
            if not _fits(given[key], one.kind):
                return f"{key!r} of {self.name} is a {f'list of {one.kind}' if one.kind in _ITEMS else one.kind}"
            if one.allowed and given[key] not in one.allowed:
                return f"{key!r} of {self.name} is one of {', '.join(one.allowed)}"
        return ""


def _fits(value: Any, kind: str) -> bool:
    if kind in _ITEMS:
        return isinstance(value, list) and len(value) <= 100 and all(_fits(one, _ITEMS[kind]) for one in value)
    if kind == "object":
        return isinstance(value, dict)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str) and len(value) <= LONGEST and not _HALF.search(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 1e6 and (kind == "number" or isinstance(value, int))
