"""Definition of a tool for a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

Parameter = tuple[str, str, bool]
"""JSON type, description, and whether it is required."""


def tool_of(name: str, about: str, parameters: dict[str, Parameter], execute: Callable[..., Awaitable[Any]]) -> ToolDef:
    """Define a tool called `name`. It shortens its own results, keeping head and tail."""
    from inspect_ai.tool import ToolDef, ToolParams
    from inspect_ai.util import JSONSchema

    schema = ToolParams(
        properties={key: JSONSchema(type=kind, description=text) for key, (kind, text, _) in parameters.items()},  # type: ignore[arg-type]
        required=[key for key, (_, _, needed) in parameters.items() if needed],
    )
    return ToolDef(execute, name=name, description=about, parameters=schema, parallel=False, max_output=0)
