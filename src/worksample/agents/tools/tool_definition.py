"""Definition of tools that a model can call."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from worksample.sandboxes.tool_actions import ToolAction
from worksample.sandboxes.tool_server import Act, media_type

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


def tool_of_action(name: str, action: ToolAction, act: Act) -> ToolDef:
    """Define a tool for an action that the platform carries out, such as one in the browser or on the desktop. `act`
    raises ToolError if the task has no such thing.
    """
    from inspect_ai.tool import ToolDef, ToolParams
    from inspect_ai.util import JSONSchema

    async def execute(**given: Any) -> object:
        from inspect_ai.model import ContentImage, ContentText
        from inspect_ai.tool import ToolError

        seen = await act(action.name, given)
        if seen.error and not seen.picture:
            raise ToolError("\n".join(part for part in (seen.error, seen.text) if part))
        if not seen.picture:
            return seen.text
        said = f"[not done: {seen.error}]\n{seen.text}" if seen.error else seen.text
        shown = f"data:{media_type(seen.picture)};base64,{base64.b64encode(seen.picture).decode()}"
        return [*([ContentText(text=said)] if said else []), ContentImage(image=shown)]

    schema = ToolParams(
        properties={key: JSONSchema.model_validate(one.schema()) for key, one in action.parameters.items()},
        required=[key for key, one in action.parameters.items() if one.needed],
    )
    return ToolDef(execute, name=name, description=action.about, parameters=schema, parallel=False, max_output=0)
