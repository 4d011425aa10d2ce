"""The box of a trial: its configuration, and access to the box from code that runs in an Inspect sample."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from worksample.agents import is_program, memory_of, mounts_of
from worksample.agents.command_harness import HOME
from worksample.agents.workspace import SCRATCH
from worksample.box import Box, BoxConfig, BoxLimits, Mount, Root
from worksample.records import Environment
from worksample.results.reattempts.feedback_prompt import PREVIOUS

from .trial_context import TrialContext
from .trial_endpoints import endpoints_of, environment_of

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironmentSpec


def box_config(context: TrialContext) -> BoxConfig:
    """Return the configuration of the agent's box. Inputs and software are read-only, output and scratch folders are
    writable, and the reference is absent.
    """
    spec = context.spec
    paths, limits = spec.instance.work.environment.paths, spec.limits
    endpoints = endpoints_of(spec.job.agent, spec.instance.work.environment)
    return BoxConfig(
        env=(*environment_of(spec.instance.work.environment), *_locale(spec.instance.work.environment)),
        network="endpoints" if endpoints else "none",
        endpoints=endpoints,
        mounts=(
            Mount(str(spec.inputs), paths.input),
            Mount(str(spec.software), paths.software),
            *((Mount(str(spec.feeding.previous), PREVIOUS),) if spec.feeding else ()),
            *mounts_of(spec.job.agent),
        ),
        python="toolbox" if spec.root is None else "none",
        root=_root(context),
        output=paths.output,
        scratch=SCRATCH,
        limits=BoxLimits(
            memory=limits.memory + memory_of(spec.job.agent), processes=limits.processes, disk=limits.disk
        ),
        label=context.id,
    )


def _locale(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return the variables that set the locale of a desktop's programs."""
    locale = environment.desktop.locale if environment.desktop is not None else ""
    return (("LANG", locale), ("LC_ALL", locale)) if locale else ()


def _root(context: TrialContext) -> Root | None:
    """Return the root file system of the instance's image; None if the task has no image. A command-line agent gets the
    platform's home folder, which contains the agent's configuration files.
    """
    if context.spec.root is None or not is_program(context.spec.job.agent.harness):
        return context.spec.root
    return replace(context.spec.root, home=HOME)


def spec_of(context: TrialContext) -> SandboxEnvironmentSpec:
    """Return the Inspect sandbox specification for the trial's sample."""
    from inspect_ai.util import SandboxEnvironmentSpec

    from worksample.sandboxes.desktop import DisplayConfig
    from worksample.sandboxes.provider import BoxSpec

    kind = context.spec.job.config.sandbox
    desktop = context.spec.instance.work.environment.desktop
    display = None if desktop is None else DisplayConfig(desktop.width, desktop.height)
    return SandboxEnvironmentSpec("worksample", BoxSpec(box=box_config(context), kind=kind, display=display))


def box_of() -> Box | None:
    """Return the box of the current sample, or None if the sample has no box."""
    from inspect_ai.util import sandbox

    from worksample.sandboxes import provider

    try:
        return provider.box_of(sandbox())
    except ProcessLookupError:
        return None
