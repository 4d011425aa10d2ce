"""Harness `command`: runs any program in the box that reads the brief. The trajectory has the program's output and exit
status.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.errors import AgentError, Cause

from .agent_script import fill_placeholders
from .box_endpoints import interface_servers, model_environment, model_placeholders
from .harness_settings import CommandSettings, ProgramSettings
from .installing.agent_program import PROGRAM as PROGRAM_FOLDER
from .mcp.config_formats import VARIABLE, fill_config, servers_of, usual_config
from .missing_programs import LOOK, LOOK_SCRIPT, programs_of, script_of
from .prompt import program_text
from .prompt_digest import record_digest
from .workspace import Workspace, clip_middle

if TYPE_CHECKING:
    from inspect_ai.solver import Solver, TaskState

ENVIRONMENT = "WORKSAMPLE_BRIEF"
SKILLS = "WORKSAMPLE_SKILLS"
"""Environment variable with the path of the task's skills in the box."""
HOME = "/home/agent"
"""Path of the home folder of the user in the box."""
PROGRAM = "command"
"""Model name in messages of the trajectory that contain a program's output."""


def command(workspace: Workspace, settings: CommandSettings, model: str | None = None) -> Solver:
    """Return a solver that runs the program once. `model` is the name of the model that the gateway calls.

    The solver raises AgentError (`agent.crash`) if the exit status of the program is not 0.
    """
    from inspect_ai.solver import Generate, solver

    @solver(name="command")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            await _run(state, workspace, settings, model)
            return state

        return solve

    return build()


async def _run(state: TaskState, workspace: Workspace, settings: CommandSettings, model: str | None) -> None:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
    from inspect_ai.util import OutputLimitExceededError, sandbox

    from worksample.sandboxes.provider import memory_kills

    brief = workspace.instance.work.brief
    if isinstance(settings, ProgramSettings):
        brief = program_text(workspace, settings.instructions)
    path = f"{workspace.scratch}/brief.md"
    words = {**workspace.words, "brief": path, "agent": PROGRAM_FOLDER, **(model_placeholders(model) if model else {})}
    argv = [fill_placeholders(part, words, raw=False) for part in settings.argv]
    env = model_environment(model) if model else {}
    env |= {key: fill_placeholders(value, words, raw=False) for key, value in settings.env.items()}
    if settings.brief == "env":
        env[ENVIRONMENT] = brief
    if workspace.instance.work.environment.skills:
        env[SKILLS] = workspace.instance.work.environment.skills
    servers = (*servers_of(workspace), *interface_servers(workspace))
    if isinstance(settings, ProgramSettings):
        argv += settings.args
        for name, text in settings.files.items():
            await sandbox().write_file(
                f"{HOME}/{name}", fill_config(fill_placeholders(text, words, raw=False), settings.mcp, servers)
            )
    elif servers:
        env[VARIABLE] = f"{workspace.scratch}/mcp.json"
        await sandbox().write_file(env[VARIABLE], usual_config(servers))
    record_digest({"brief": brief, "argv": argv, "env": sorted(env), "given": settings.brief})
    state.messages = [ChatMessageUser(content=brief, source="input")]
    await sandbox().write_file(path, brief)
    await _need_programs(argv)
    killed = memory_kills(sandbox())
    try:
        done = await sandbox().exec(
            argv, input=brief if settings.brief == "stdin" else None, env=env, timeout_retry=False
        )
        status, text = done.returncode, done.stdout + (f"\n[standard error]\n{done.stderr}" if done.stderr else "")
    except OutputLimitExceededError as error:
        status, text = 0, f"{error.truncated_output or ''}\n[the rest of the output was not stored]"
    except PermissionError as error:
        status, text = 126, str(error)
    text = clip_middle(text, settings.output_characters)
    state.messages.append(ChatMessageAssistant(content=f"{text}\n[exit status {status}]".lstrip("\n"), model=PROGRAM))
    if status:
        last = (text.strip().splitlines() or ["no output"])[-1]
        ended = f"{argv[0]} ended with exit status {status}: {clip_middle(last, 300)}"
        if memory_kills(sandbox()) > killed:
            raise AgentError(f"{ended} {workspace.out_of_memory}", cause=Cause.LIMIT_MEMORY)
        raise AgentError(ended)


async def _need_programs(argv: Sequence[str]) -> None:
    """Check that the box has the program. If the program is an interpreter, its script must exist, too. Raises
    AgentError (`agent.absent`) if one is missing.

    The check comes before anything of the agent runs, because the agent itself could cause an exit status afterwards.
    """
    from inspect_ai.util import sandbox

    script = script_of(argv)
    wanted = [(LOOK, program) for program in programs_of(argv)] + ([(LOOK_SCRIPT, script)] if script else [])
    for look, path in wanted:
        if (await sandbox().exec(["sh", "-c", look, "sh", path], timeout_retry=False)).returncode:
            what = "program" if look is LOOK else "script"
            raise AgentError(
                f"the sandbox has no {what} {path!r} that can be {'run' if look is LOOK else 'read'}",
                cause=Cause.AGENT_ABSENT,
                next='name its folder in the agent\'s table (folder = "..."), install it below /usr, or use an image',
            )
