"""Placeholders in a brief, such as `{{month}}`, which are replaced by settings of the instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from worksample.errors import ManifestError

_PLACE = re.compile(r"\{\{\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*\}\}")


def setting_names(brief: str) -> list[str]:
    """Return the names of the settings that a brief uses as `{{name}}`, each name once, in order of appearance."""
    return list(dict.fromkeys(_PLACE.findall(brief)))


def render_brief(brief: str, settings: Mapping[str, Any]) -> str:
    """Replace each `{{name}}` in a brief by the setting of that name. Raises ManifestError if a setting is missing, a
    table or a list.
    """

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
