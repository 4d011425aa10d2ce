"""Reference harness `worker`: a model and its tools in one loop, until the model submits (RLI B.6; ALE 3.2, C.4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .agent_script import fill_placeholders
from .conversation import Conversation, work
from .harness_settings import WorkerSettings
from .mcp.server_tools import tools_of
from .prompt import NUDGE, brief_text, system_text
from .tools import toolset
from .workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver, TaskState
    from inspect_ai.tool import ToolDef


def worker(model: Model, workspace: Workspace, settings: WorkerSettings, inputs: Path | None) -> Solver:
    """Return a solver in which `model` does the instance's work with the tools that the settings name."""
    from inspect_ai.solver import Generate, solver

    @solver(name="worker")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            open_with(state, system_text(workspace, settings), brief_text(workspace, settings, inputs))
            async with tools_of(workspace) as more:
                await work(
                    conversation_of(model, workspace, settings, state, more),
                    settings.nudges,
                    fill_placeholders(NUDGE, workspace.words, raw=False),
                )
            return state

        return solve

    return build()


def open_with(state: TaskState, system: str, brief: str) -> None:
    """Start the conversation with a system message and the brief."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    state.messages = [ChatMessageSystem(content=system), ChatMessageUser(content=brief, source="input")]


def conversation_of(
    model: Model,
    workspace: Workspace,
    settings: WorkerSettings,
    state: TaskState,
    more: Sequence[ToolDef] = (),
    *,
    submits: bool = True,
) -> Conversation:
    """Return a conversation with the tools that the settings name, and with the task's tools in `more`."""
    tools = [*toolset(workspace, settings.tools, submits=submits), *more]
    return Conversation(model, workspace, tools, state, compact_at=settings.compact_at, malformed=settings.malformed)
