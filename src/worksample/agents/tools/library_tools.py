"""Tools from Inspect's library: search in files, a plan, and a memory. Their results are shortened as those of our own
tools are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from worksample.agents.workspace import Workspace, clip_middle

if TYPE_CHECKING:
    from inspect_ai.tool import Tool, ToolDef


def search_files(workspace: Workspace) -> list[ToolDef]:
    """Return the tools `list_files` and `grep`, which only read."""
    from inspect_ai.tool import grep, list_files

    seconds = int(workspace.command_time)
    return [shorten_results(make(timeout=seconds), workspace) for make in (list_files, grep)]


def plan(workspace: Workspace) -> ToolDef:
    """Return the tool `todo_write`, in which the agent keeps a plan with the state of each step."""
    from inspect_ai.tool import todo_write

    return shorten_results(todo_write(), workspace)


def memory(workspace: Workspace) -> ToolDef:
    """Return the tool `memory`: files that stay when the conversation is compacted, and end with the trial."""
    from inspect_ai.tool import memory as library_memory

    return shorten_results(library_memory(), workspace)


def shorten_results(tool: Tool, workspace: Workspace) -> ToolDef:
    """Return the definition of a library's tool whose text results are shortened in the middle."""
    from inspect_ai.tool import ToolDef

    whole = ToolDef(tool)
    run: Callable[..., Any] = whole.tool

    async def execute(**given: Any) -> Any:
        found = await run(**given)
        return clip_middle(found, workspace.tool_output) if isinstance(found, str) else found

    return ToolDef(
        execute,
        name=whole.name,
        description=whole.description,
        parameters=whole.parameters,
        parallel=whole.parallel,
        max_output=0,
    )
