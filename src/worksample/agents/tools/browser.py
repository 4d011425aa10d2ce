"""Tools for actions in a browser, for tasks whose environment has a browser."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from worksample.sandboxes.browser import ACTIONS, CURRENT, BrowserAction

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

BEGINNING = "browser_"


def browser() -> list[ToolDef]:
    """Return the tools `browser_goto`, `browser_click` and so on. The result of each tool is the page after the
    action.
    """
    return [_tool(one) for one in ACTIONS.values()]


def _tool(action: BrowserAction) -> ToolDef:
    from inspect_ai.tool import ToolDef, ToolParams
    from inspect_ai.util import JSONSchema

    async def execute(**given: Any) -> object:
        from inspect_ai.model import ContentImage, ContentText
        from inspect_ai.tool import ToolError

        running = CURRENT.get()
        if running is None:
            raise ToolError("this task has no browser")
        seen = await running.act(action.name, given)
        if seen.error and not seen.picture:
            raise ToolError("\n".join(part for part in (seen.error, seen.text) if part))
        if not seen.picture:
            return seen.text
        said = f"[not done: {seen.error}]\n{seen.text}" if seen.error else seen.text
        return [
            ContentText(text=said),
            ContentImage(image=f"data:image/jpeg;base64,{base64.b64encode(seen.picture).decode()}"),
        ]

    schema = ToolParams(
        properties={key: JSONSchema.model_validate(one.schema()) for key, one in action.parameters.items()},
        required=[key for key, one in action.parameters.items() if one.needed],
    )
    name = f"{BEGINNING}{action.name}"
    return ToolDef(execute, name=name, description=action.about, parameters=schema, parallel=False, max_output=0)
