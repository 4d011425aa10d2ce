"""Tools for actions in a browser or on the desktop, for tasks whose environment has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worksample.sandboxes import browser, desktop

from .tool_definition import tool_of_action

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

BROWSER_PREFIX = "browser_"


def browser_tools() -> list[ToolDef]:
    """Return the tools `browser_goto`, `browser_click` and so on. The result of each tool is the page after the
    action.
    """
    return [tool_of_action(f"{BROWSER_PREFIX}{one.name}", one, _act_in_browser) for one in browser.ACTIONS.values()]


def desktop_tools() -> list[ToolDef]:
    """Return the tools of the desktop: `computer`, with the vocabulary of Inspect's tool of this name, and those whose
    names begin with `desktop_`. The result of each tool shows the screen after the action.
    """
    return [tool_of_action(one.name, one, _act_on_desktop) for one in desktop.AGENT_TOOLS.values()]


async def _act_in_browser(name: str, given: Mapping[str, Any]) -> browser.BrowserObservation:
    running = browser.CURRENT.get()
    if running is None:
        from inspect_ai.tool import ToolError

        raise ToolError("this task has no browser")
    return await running.act(name, given)


async def _act_on_desktop(name: str, given: Mapping[str, Any]) -> desktop.DesktopObservation:
    running = desktop.CURRENT.get()
    if running is None:
        from inspect_ai.tool import ToolError

        raise ToolError("this task has no desktop")
    return await running.act(name, given)
