"""From an Agent record to what works: a table of harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worksample.box import Mount
from worksample.errors import PlanError
from worksample.extras import need as extra
from worksample.models import ModelService, resolve
from worksample.models.resolver import check_generation
from worksample.records import Agent, Instance, Limits
from worksample.sandboxes.capture import step_views

from .agent_definition import HARNESSES, HUMAN, validate_settings
from .agent_folder import mount_of
from .command_programs import missing_program, only_on_host
from .installing import find_installed
from .installing.program_settings import require_installed
from .mcp.config_formats import FORMS, WITHOUT_SSE
from .script import Script
from .settings import (
    CommandSettings,
    HumanSettings,
    ObjectSettings,
    ProgramSettings,
    ReflectSettings,
    ScriptedSettings,
    WorkerSettings,
)
from .workspace import SCRATCH, Workspace

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver


def model_of(agent: Agent, service: ModelService) -> Model | None:
    """The agent's model, or None for one that calls none of ours. PlanError where it cannot be had."""
    settings = validate_settings(agent.harness, agent.settings)
    if agent.model is None:
        return None
    if isinstance(settings, CommandSettings | ObjectSettings):
        return resolve(agent.model, service)
    if isinstance(settings, ScriptedSettings):
        from worksample.models.price import register

        from .scripted_agent import script_model

        register(service.prices)
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
) -> Solver:
    """An Inspect solver that does the instance's work as `agent` does, in the current sandbox.

    `model` is what `model_of` gave, `inputs` the instance's input folder on this machine (for text that is shown
    inline). It raises AgentError for a failure of the agent's own. PlanError for an agent that cannot do it.
    """
    settings = validate_settings(agent.harness, agent.settings)
    workspace = Workspace(
        instance,
        limits or instance.work.environment.limits,
        scratch,
        tool_output=getattr(settings, "tool_output", 16_000),
        command_time=getattr(settings, "command_time", 180.0),
        command_time_most=getattr(settings, "command_time_most", 1800.0),
        vision="vision" in agent.capabilities or agent.harness == "scripted",
    )
    if isinstance(settings, CommandSettings):
        from .command import command

        return command(workspace, settings, agent.model)
    if isinstance(settings, ObjectSettings):
        from .python_agent import in_python

        return in_python(model, workspace, settings, inputs)
    if isinstance(settings, HumanSettings):
        raise PlanError("a person works in the app, not in a run", next="worksample serve")
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
    from .worker import worker

    assert isinstance(settings, WorkerSettings)
    return worker(model, workspace, settings, inputs)


def check_agent(agent: Agent, instance: Instance) -> None:
    """PlanError, before anything runs, where the agent's settings or its script for the instance are wrong, or its
    program is not installed here."""
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


def mounts_of(agent: Agent) -> tuple[Mount, ...]:
    """Return what a box of the agent shows besides the work: its program. Raises PlanError if that is not here."""
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings):
        return require_installed(agent.harness, settings.version, settings.program).mounts()
    if isinstance(settings, CommandSettings) and settings.folder:
        return (mount_of(settings.folder, settings.folder_digest),)
    return ()


def works_in_images(agent: Agent) -> bool:
    """Whether the agent's box may have any root: where it is a program, it was installed with all that it stands on."""
    if agent.harness in HARNESSES:
        return True
    here = find_installed(agent.harness, str(agent.settings.get("version", "")), str(agent.settings.get("program", "")))
    return here is not None and here.anywhere


def takes_mcp(agent: Agent) -> bool:
    """Whether the agent is given the tools of a task's MCP servers. A script says itself what it calls."""
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings):
        return settings.mcp in FORMS
    return not isinstance(settings, ObjectSettings)


def takes_sse(agent: Agent) -> bool:
    """Whether the agent can call MCP servers by server-sent events."""
    settings = validate_settings(agent.harness, agent.settings)
    return takes_mcp(agent) and not (isinstance(settings, ProgramSettings) and settings.mcp in WITHOUT_SSE)


def takes_browser(agent: Agent) -> bool:
    """Whether the agent can be given a browser: as tools, or as a server of MCP."""
    return agent.harness == "scripted" or (agent.harness not in (HUMAN, "object") and takes_mcp(agent))


def observed_by(agent: Agent) -> tuple[str, ...]:
    """What the agent's settings say that it is shown of its browser's pages; nothing where they say nothing."""
    return validate_settings(agent.harness, agent.settings).observe


def logs_of(agent: Agent) -> tuple[str, ...]:
    """Where below the home folder the agent's program keeps its log."""
    settings = validate_settings(agent.harness, agent.settings)
    return settings.logs if isinstance(settings, ProgramSettings) else ()


def check_program(agent: Agent, path: str, *, images: bool = False) -> None:
    """Raise PlanError if no box shows a `command` agent's program: `path` are the folders of programs that boxes show,
    `images` says that some of the work brings a root of its own."""
    settings = validate_settings(agent.harness, agent.settings)
    if isinstance(settings, ProgramSettings) or not isinstance(settings, CommandSettings):
        return  # an installed program comes from its own folder
    script = "" if images else only_on_host(settings.argv)
    if script:
        raise PlanError(
            f"the sandbox does not show this machine's file {script}",
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
