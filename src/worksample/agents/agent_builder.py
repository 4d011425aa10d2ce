"""Builder of solvers: makes the Inspect solver of an agent from the agent's record. A table names the builder of each
harness.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worksample.box import Mount
from worksample.errors import PlanError
from worksample.extras import need as extra
from worksample.models import ModelService, resolve
from worksample.models.media import check_media_model
from worksample.models.model_resolver import check_generation
from worksample.records import Agent, Instance, Limits
from worksample.sandboxes.capture import step_views

from .agent_definition import HARNESSES, HUMAN, validate_settings
from .agent_folder_cache import mount_of
from .agent_script import Script
from .harness_settings import (
    CommandSettings,
    HumanSettings,
    ObjectSettings,
    ProgramSettings,
    ReflectSettings,
    ScriptedSettings,
    Settings,
    WorkerSettings,
)
from .installing import find_installed
from .installing.program_settings import require_installed
from .mcp.config_formats import FORMS, WITHOUT_SSE
from .missing_programs import missing_program, only_on_host
from .prompt import brief_text, program_text, system_text
from .tools.media import LOCAL
from .workspace import SCRATCH, Workspace

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver


def model_of(agent: Agent, service: ModelService) -> Model | None:
    """Return the agent's model, or None if the platform calls no model for this agent. Raises PlanError if the model
    cannot be created.
    """
    settings = validate_settings(agent.harness, agent.settings)
    if agent.model is None:
        return None
    if isinstance(settings, CommandSettings | ObjectSettings):
        return resolve(agent.model, service)
    if isinstance(settings, ScriptedSettings):
        from worksample.models.price import register_prices

        from .scripted_agent import script_model

        register_prices(service.prices)
        return script_model(agent.model)
    assert isinstance(settings, WorkerSettings)
    return resolve(agent.model, service, settings.generation)


def build(
    agent: Agent,
    instance: Instance,
    *,
    model: Model | None = None,
    limits: Limits | None = None,
    inputs: Path | None = None,
    scratch: str = SCRATCH,
    in_steps: bool = False,
) -> Solver:
    """Build an Inspect solver in which `agent` does the instance's work in the current sandbox.

    `model` is the result of `model_of`. `inputs` is the folder of the instance's input files on this machine, from
    which the prompt may include text. `in_steps` is True if the work is one step of a task with steps. The solver
    raises AgentError if the agent itself fails. Raises PlanError if the
    agent cannot do the work.
    """
    settings = validate_settings(agent.harness, agent.settings)
    workspace = workspace_of(agent, instance, limits=limits, scratch=scratch, in_steps=in_steps)
    if isinstance(settings, CommandSettings):
        from .command_harness import command

        return command(workspace, settings, agent.model)
    if isinstance(settings, ObjectSettings):
        from .python_agent import in_python

        return in_python(model, workspace, settings, inputs)
    if isinstance(settings, HumanSettings):
        raise PlanError("an arm of people cannot be run like an agent: people work in the app", next="worksample serve")
    if model is None:
        raise PlanError(
            f"agent {agent.name} has no model", next="--model PROVIDER/MODEL, or model in the agent's table"
        )
    if isinstance(settings, ScriptedSettings):
        from .scripted_agent import replay

        return replay(model, workspace, settings)
    if isinstance(settings, ReflectSettings):
        from .plan_act_reflect import plan_act_reflect

        return plan_act_reflect(model, workspace, settings, inputs)
    from .reference_harness import worker

    assert isinstance(settings, WorkerSettings)
    return worker(model, workspace, settings, inputs)


def workspace_of(
    agent: Agent,
    instance: Instance,
    *,
    limits: Limits | None = None,
    scratch: str = SCRATCH,
    in_steps: bool = False,
) -> Workspace:
    """Return the workspace of an instance as the agent uses it: its interfaces, and the limits of its tools."""
    settings = validate_settings(agent.harness, agent.settings)
    return Workspace(
        instance,
        limits or instance.work.environment.limits,
        scratch,
        tool_output=getattr(settings, "tool_output", 16_000),
        command_time=getattr(settings, "command_time", 180.0),
        command_time_most=getattr(settings, "command_time_most", 1800.0),
        vision="vision" in agent.capabilities or agent.harness == "scripted",
        interfaces=_interfaces(agent, settings, instance),
        tools_by_mcp=isinstance(settings, ProgramSettings),
        in_steps=in_steps,
        own_memory=memory_of(agent),
    )


def _interfaces(agent: Agent, settings: Settings, instance: Instance) -> frozenset[str]:
    """Return the interfaces of the instance for which the agent has tools."""
    used = set(instance.work.environment.interfaces)
    if isinstance(settings, WorkerSettings):
        used &= {"terminal", *settings.interfaces}
    return frozenset(used if takes_interfaces(agent) else used & {"terminal"})


def show_prompts(agent: Agent, instance: Instance) -> list[str]:
    """Return the prompt that the agent gets at the start of its work on the instance. If the instance has steps, return
    the prompt of each step. Texts of attachments are left out.
    """
    in_steps = bool(instance.work.environment.steps)
    return [_prompt(agent, view, in_steps=in_steps) for view in step_views(instance)]


def _prompt(agent: Agent, instance: Instance, *, in_steps: bool) -> str:
    settings = validate_settings(agent.harness, agent.settings)
    workspace = workspace_of(agent, instance, in_steps=in_steps)
    if isinstance(settings, ProgramSettings):
        return program_text(workspace, settings.instructions)
    if isinstance(settings, WorkerSettings):
        submits = not isinstance(settings, ReflectSettings)
        system = system_text(workspace, settings, submits=submits)
        return f"{system}\n\n# The work\n\n{brief_text(workspace, settings, None)}"
    return instance.work.brief


def check_agent(agent: Agent, instance: Instance) -> None:
    """Check an agent before a run. Raises PlanError if its settings are wrong, if its script for the instance is wrong,
    or if its program is not installed.
    """
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings):
        require_installed(agent.harness, settings.version, settings.program)
    elif isinstance(settings, CommandSettings) and settings.folder:
        mount_of(settings.folder, settings.folder_digest)
    if isinstance(settings, ScriptedSettings):
        script = Script.model_validate(settings.script)
        for shown in step_views(instance):
            script.steps(shown)
    if isinstance(settings, ObjectSettings):
        from .python_agent import check_object

        check_object(settings)
    if isinstance(settings, WorkerSettings):
        if instance.work.environment.mcp:
            extra("mcp")
        check_generation(settings.generation, where=f"agent {agent.name}")
        for kind in ("image", "speech", "video"):
            if (model := getattr(settings.media, kind)) and (kind, model) != ("speech", LOCAL):
                check_media_model(model, kind)


def mounts_of(agent: Agent) -> tuple[Mount, ...]:
    """Return the mounts with which the agent's program appears in its box. Raises PlanError if this machine lacks the
    program.
    """
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings):
        return require_installed(agent.harness, settings.version, settings.program).mounts()
    if isinstance(settings, CommandSettings) and settings.folder:
        return (mount_of(settings.folder, settings.folder_digest),)
    return ()


def works_in_images(agent: Agent) -> bool:
    """Return whether the agent works in a box with any image. A program does so if it was installed with all libraries
    that it needs.
    """
    if agent.harness in HARNESSES:
        return True
    here = find_installed(agent.harness, str(agent.settings.get("version", "")), str(agent.settings.get("program", "")))
    return here is not None and here.anywhere


def takes_mcp(agent: Agent) -> bool:
    """Return whether the agent gets the tools of a task's MCP servers. A scripted agent does not, because its script
    names its tool calls.
    """
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings):
        return settings.mcp in FORMS
    return not isinstance(settings, ObjectSettings)


def takes_sse(agent: Agent) -> bool:
    """Return whether the agent can call MCP servers that use server-sent events."""
    settings = validate_settings(agent.harness, agent.settings)
    return takes_mcp(agent) and not (isinstance(settings, ProgramSettings) and settings.mcp in WITHOUT_SSE)


def takes_interfaces(agent: Agent) -> bool:
    """Return whether the agent can use a browser or a desktop, through tools or through an MCP server."""
    return agent.harness == "scripted" or (agent.harness not in (HUMAN, "object") and takes_mcp(agent))


def observed_by(agent: Agent) -> tuple[str, ...]:
    """Return the kinds of observation of browser pages that the agent's settings choose; empty if the settings choose
    none.
    """
    return validate_settings(agent.harness, agent.settings).observe


def memory_of(agent: Agent) -> int:
    """Return the number of bytes of memory that the agent's own program needs in its box, beside the task's memory."""
    settings = validate_settings(agent.harness, agent.settings)
    return settings.memory if isinstance(settings, CommandSettings) else 0


def logs_of(agent: Agent) -> tuple[str, ...]:
    """Return the paths of the program's log files, relative to the home folder in the box."""
    settings = validate_settings(agent.harness, agent.settings)
    return settings.logs if isinstance(settings, ProgramSettings) else ()


def check_program(agent: Agent, path: str, *, images: bool = False) -> None:
    """Raise PlanError if no box contains the program of a `command` agent.

    `path` lists the folders in which a box searches for programs. `images` is True if some of the instances have an
    image.
    """
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings) or not isinstance(settings, CommandSettings):
        return  # an installed program is shown from its own folder
    script = "" if images else only_on_host(settings.argv)
    if script:
        raise PlanError(
            f"the agent's file {script} is outside the folders that the sandbox shows",
            where=f"agent {agent.name}",
            next=f'folder = "{Path(script).parent}" in the agent\'s table, and {{agent}}/{Path(script).name} in argv',
        )
    absent = missing_program(settings.argv, path)
    if absent:
        raise PlanError(
            f"the sandbox of this machine lacks the program {absent!r}",
            where=f"agent {agent.name}",
            next="install it below /usr, or put it into the task's software/ and call it as {software}/...",
        )
