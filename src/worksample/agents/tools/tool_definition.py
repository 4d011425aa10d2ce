"""Definition of tools that a model can call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

Parameter = tuple[str, str, bool]
"""Parameter of a tool: its JSON type, its description, and whether it is required."""


def tool_of(name: str, about: str, parameters: dict[str, Parameter], execute: Callable[..., Awaitable[Any]]) -> ToolDef:
    """Define a tool for a model. Inspect must not shorten its results, because the tool shortens them itself: the
    beginning and the end stay.
    """
    from inspect_ai.tool import ToolDef, ToolParams
    from inspect_ai.util import JSONSchema

    schema = ToolParams(
        properties={key: JSONSchema(type=kind, description=text) for key, (kind, text, _) in parameters.items()},  # type: ignore[arg-type]
        required=[key for key, (_, _, needed) in parameters.items() if needed],
    )
    return ToolDef(execute, name=name, description=about, parameters=schema, parallel=False, max_output=0)
