"""Settings that are filled into a brief."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from worksample.errors import ManifestError

_PLACE = re.compile(r"\{\{\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*\}\}")


def setting_names(brief: str) -> list[str]:
    """Return the names of the settings that a brief asks for (`{{month}}`), each once, in order."""
    return list(dict.fromkeys(_PLACE.findall(brief)))


def render_brief(brief: str, settings: Mapping[str, Any]) -> str:
    """Fill the settings into a brief's `{{name}}`. Raises ManifestError if a setting is missing or is a table."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        value = settings.get(name)
        if value is None or isinstance(value, (dict, list)):
            raise ManifestError(
                f"{{{{{name}}}}} is not filled in by any setting",
                where="brief.md",
                next=f"give {name} under [instance.settings]",
            )
        return str(value)

    return _PLACE.sub(fill, brief)
