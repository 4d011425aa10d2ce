"""Tools for the desktop, for tasks whose environment has a desktop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worksample.sandboxes.desktop import AGENT_TOOLS, CURRENT, DesktopObservation

from .tool_definition import tool_of_action

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef


def desktop() -> list[ToolDef]:
    """Return the tools of the desktop: `computer`, with the vocabulary of Inspect's tool of this name, and those whose
    names begin with `desktop_`. The result of each tool shows the screen after the action.
    """
    return [tool_of_action(one.name, one, _act) for one in AGENT_TOOLS.values()]


async def _act(name: str, given: Mapping[str, Any]) -> DesktopObservation:
    running = CURRENT.get()
    if running is None:
        from inspect_ai.tool import ToolError

        raise ToolError("this task has no desktop")
    return await running.act(name, given)
