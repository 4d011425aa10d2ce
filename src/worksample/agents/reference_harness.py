"""Reference harness `worker`: a model and its tools in one loop, until the model submits (RLI B.6; ALE 3.2, C.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .conversation import Conversation, work
from .harness_settings import WorkerSettings
from .mcp.server_tools import tools_of
from .prompt import NUDGE, brief_text, system_text
from .subagents import DELEGATE, open_subagents
from .tools import interface_tools, reading_tools, toolset
from .tools.media import MediaTools
from .tools.submit import submit
from .workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver, TaskState
    from inspect_ai.tool import ToolDef


GUIDANCE: Mapping[str, str] = {
    "todo_write": "Keep a plan of long work with todo_write.",
    "make_image": "If the work needs pictures, use make_image, not code, unless vectors are asked for.",
    "memory": (
        "Write what you must not forget into your memory with the tool memory: old parts of this conversation may be "
        "left out or summarised."
    ),
    DELEGATE: "Parts of the work that need many steps but a short answer can be given to a sub-agent with delegate.",
}
"""Sentences for the prompt, by the name of the tool that they are about."""


def worker(model: Model, workspace: Workspace, settings: WorkerSettings, inputs: Path | None) -> Solver:
    """Return a solver in which `model` does the instance's work with the tools that the settings name.

    The loop has the six phases of ALE's Fig. 8: the prompt and the tools are made (initialisation), the conversation is
    put together, the model is called, its answer either ends the work or calls tools (decision), results are collected,
    and the conversation is compacted if it has grown too long.
    """
    from inspect_ai.solver import Generate, solver

    @solver(name="worker")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            async with tools_of(workspace) as more, opened_parts(model, workspace, settings, more) as parts:
                told = replace(workspace, guidance=guidance_of(parts))
                open_with(state, system_text(told, settings), brief_text(workspace, settings, inputs))
                await work(conversation_of(model, workspace, settings, state, parts), settings.nudges, NUDGE)
            return state

        return solve

    return build()


@asynccontextmanager
async def opened_parts(
    model: Model, workspace: Workspace, settings: WorkerSettings, more: Sequence[ToolDef]
) -> AsyncIterator[list[ToolDef]]:
    """Yield the agent's tools without `submit`: its own, those of the task in `more`, and those for sub-agents."""
    by_gui = settings.gui == "subagent"
    own = [
        *toolset(workspace, settings.tools, submits=False, interfaces=not by_gui, search_url=settings.search_url),
        *MediaTools(workspace, settings.media).definitions(),
        *more,
    ]
    kinds: dict[str, list[ToolDef]] = {}
    if "general" in settings.subagents:
        kinds["general"] = own
    if "explore" in settings.subagents:
        kinds["explore"] = reading_tools(workspace, settings.tools)
    if by_gui and (screens := interface_tools(workspace)):
        kinds["gui"] = screens
    async with open_subagents(model, workspace, settings, kinds) as delegation:
        yield [*own, *delegation]


def guidance_of(tools: Sequence[ToolDef]) -> tuple[str, ...]:
    """Return sentences about the agent's own tools for the prompt, for the tools that it has."""
    names = {one.name for one in tools}
    return tuple(text for name, text in GUIDANCE.items() if name in names)


def open_with(state: TaskState, system: str, brief: str) -> None:
    """Start the conversation with a system message and the brief."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    state.messages = [ChatMessageSystem(content=system), ChatMessageUser(content=brief, source="input")]


def conversation_of(
    model: Model,
    workspace: Workspace,
    settings: WorkerSettings,
    state: TaskState,
    tools: Sequence[ToolDef],
    *,
    submits: bool = True,
) -> Conversation:
    """Return a conversation with these tools and, with `submits`, the tool that ends the work."""
    return Conversation(
        model,
        workspace,
        [*tools, submit()] if submits else tools,
        state,
        compact_at=settings.compact_at,
        compaction=settings.compaction,
        keep_turns=settings.keep_turns,
        malformed=settings.malformed,
        repeats=settings.repeats,
    )
