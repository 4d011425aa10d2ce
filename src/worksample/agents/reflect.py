"""Plan, act, reflect (UpBench 5.1): sub-goals and a plan, work, a check against the brief, again if need be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .desk import Desk
from .prompt import ACT, PLAN, REFLECT, REVISE, brief_text, system_text
from .script import filled
from .settings import ReflectSettings
from .worker import open_with, talk_of

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver, TaskState

    from .talk import Talk

VERDICT = re.compile(r"^\W*VERDICT\W+(READY|REVISE)\W*$", re.IGNORECASE | re.MULTILINE)


def plan_act_reflect(model: Model, desk: Desk, settings: ReflectSettings, inputs: Path | None) -> Solver:
    """A solver: a planning answer, then rounds of acting and reflecting until the agent is satisfied."""
    from inspect_ai.solver import Generate, solver

    @solver(name="plan_act_reflect")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            said = brief_text(desk, settings, inputs)
            plan = filled(PLAN, desk.words, raw=False)
            open_with(state, system_text(desk, settings, submits=False), f"{said}\n\n{plan}")
            talk = talk_of(model, desk, settings, state, submits=False)
            await _until_silent(talk)
            talk.say(filled(ACT, desk.words, raw=False))
            for turn in range(settings.rounds):
                await _until_silent(talk)
                talk.say(REFLECT)
                verdict = verdict_of(await _until_silent(talk))
                if verdict != "REVISE" or turn + 1 == settings.rounds:
                    break
                talk.say(REVISE)
            return state

        return solve

    return build()


async def _until_silent(talk: Talk) -> str:
    """Let the model act until an answer calls no tool; that answer."""
    while True:
        output = await talk.ask()
        if not output.message.tool_calls:
            return output.message.text
        await talk.act(output)


def verdict_of(text: str) -> str:
    """`READY` or `REVISE`: the last verdict line of a reflection, `READY` where there is none."""
    found = VERDICT.findall(text)
    return found[-1].upper() if found else "READY"
