"""Harness `plan-act-reflect` (UpBench 5.1). The agent plans sub-goals, works, checks the work against the brief, and
revises it if needed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .agent_script import fill_placeholders
from .harness_settings import ReflectSettings
from .mcp.server_tools import tools_of
from .prompt import ACT, PLAN, REFLECT, REVISE, brief_text, system_text
from .reference_harness import conversation_of, open_with, opened_parts
from .workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver, TaskState

    from .conversation import Conversation

VERDICT = re.compile(r"^\W*VERDICT\W+(READY|REVISE)\W*$", re.IGNORECASE | re.MULTILINE)


def plan_act_reflect(model: Model, workspace: Workspace, settings: ReflectSettings, inputs: Path | None) -> Solver:
    """Return a solver that asks the model for a plan, and then for rounds of acting and reflecting until the model is
    satisfied.
    """
    from inspect_ai.solver import Generate, solver

    @solver(name="plan_act_reflect")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            said = brief_text(workspace, settings, inputs)
            plan = fill_placeholders(PLAN, workspace.words, raw=False)
            open_with(state, system_text(workspace, settings, submits=False), f"{said}\n\n{plan}")
            async with tools_of(workspace) as more, opened_parts(model, workspace, settings, more) as parts:
                conversation = conversation_of(model, workspace, settings, state, parts, submits=False)
                await _until_satisfied(conversation, settings.rounds)
            return state

        return solve

    return build()


async def _until_satisfied(conversation: Conversation, rounds: int) -> None:
    await _until_silent(conversation)
    conversation.add_user_message(fill_placeholders(ACT, conversation.workspace.words, raw=False))
    for turn in range(rounds):
        await _until_silent(conversation)
        conversation.add_user_message(REFLECT)
        verdict = verdict_of(await _until_silent(conversation))
        if verdict != "REVISE" or turn + 1 == rounds:
            break
        conversation.add_user_message(REVISE)


async def _until_silent(conversation: Conversation) -> str:
    """Let the model act until one of its answers calls no tool. Return the text of this answer."""
    while True:
        output = await conversation.ask_model()
        if not output.message.tool_calls:
            return output.message.text
        await conversation.run_tools(output)


def verdict_of(text: str) -> str:
    """Return `READY` or `REVISE`, from the last verdict line of a reflection. Return `READY` if the reflection has no
    verdict line.
    """
    found = VERDICT.findall(text)
    return found[-1].upper() if found else "READY"
