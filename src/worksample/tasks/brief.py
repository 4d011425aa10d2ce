"""Settings in the brief, and the criteria as an agent may see them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from worksample.errors import ManifestError
from worksample.records import Criteria, Criterion

_PLACE = re.compile(r"\{\{\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*\}\}")


def places(brief: str) -> list[str]:
    """Names of the settings that a brief asks for (`{{month}}`), each once, in order."""
    return list(dict.fromkeys(_PLACE.findall(brief)))


def render_brief(brief: str, settings: Mapping[str, Any]) -> str:
    """The brief with `{{name}}` filled from the settings. ManifestError where a setting is missing or is a table."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        value = settings.get(name)
        if value is None or isinstance(value, (dict, list)):
            raise ManifestError(
                f"{{{{{name}}}}} is filled by no setting",
                where="brief.md",
                next=f"give {name} under [instance.settings]",
            )
        return str(value)

    return _PLACE.sub(fill, brief)


def shown_criteria(criteria: Criteria) -> str:
    """The criteria as a list in Markdown, as an agent sees them where a protocol has `shown = true`."""

    def lines(nodes: Sequence[Criterion], depth: int) -> list[str]:
        found = []
        for node in nodes:
            weight = node.importance.value if node.importance else f"{node.worth:g} points"
            gate = ", required" if node.gate else ""
            found.append(f"{'  ' * depth}- {node.text} ({weight}{gate})")
            found += lines(node.parts, depth + 1)
        return found

    return "\n".join(lines(criteria.criteria, 0))
