"""Tools for actions in a browser, for tasks whose environment has a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worksample.sandboxes.browser import ACTIONS, CURRENT, BrowserObservation

from .tool_definition import tool_of_action

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

BEGINNING = "browser_"


def browser() -> list[ToolDef]:
    """Return the tools `browser_goto`, `browser_click` and so on. The result of each tool is the page after the
    action.
    """
    return [tool_of_action(f"{BEGINNING}{one.name}", one, _act) for one in ACTIONS.values()]


async def _act(name: str, given: Mapping[str, Any]) -> BrowserObservation:
    running = CURRENT.get()
    if running is None:
        from inspect_ai.tool import ToolError

        raise ToolError("this task has no browser")
    return await running.act(name, given)
