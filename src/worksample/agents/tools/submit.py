"""Tool with which the model submits its work and ends the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

SUBMIT = "submit"


def submit() -> ToolDef:
    """Return the tool `submit(summary)`. A call of this tool ends the conversation."""

    async def execute(summary: str = "") -> str:
        return "The work is closed."

    return tool_of(
        SUBMIT,
        "Hand in the work. Call this once, when every deliverable is in the output folder. Nothing can be changed "
        "afterwards.",
        {"summary": ("string", "What you delivered, in one or two sentences.", False)},
        execute,
    )
