"""The box of a trial: what is mounted where, and how to get at it from inside a sample."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from worksample.agents import is_program, mounts_of
from worksample.agents.command import HOME
from worksample.agents.workspace import SCRATCH
from worksample.box import Box, BoxConfig, BoxLimits, Mount, Root
from worksample.results.reattempts.feedback_prompt import PREVIOUS

from .endpoints import endpoints_of, environment_of
from .tries import TrialContext

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironmentSpec


def box_config(try_: TrialContext) -> BoxConfig:
    """The agent's box: input and software read-only, output and scratch to write to, and nothing of the reference."""
    paths, limits = try_.instance.work.environment.paths, try_.limits
    endpoints = endpoints_of(try_.job.agent, try_.instance.work.environment)
    return BoxConfig(
        env=environment_of(try_.instance.work.environment),
        network="endpoints" if endpoints else "none",
        endpoints=endpoints,
        mounts=(
            Mount(str(try_.inputs), paths.input),
            Mount(str(try_.software), paths.software),
            *((Mount(str(try_.feeding.previous), PREVIOUS),) if try_.feeding else ()),
            *mounts_of(try_.job.agent),
        ),
        python="toolbox" if try_.root is None else "none",
        root=_root(try_),
        output=paths.output,
        scratch=SCRATCH,
        limits=BoxLimits(memory=limits.memory, processes=limits.processes, disk=limits.disk),
        label=try_.id,
    )


def _root(try_: TrialContext) -> Root | None:
    """The instance's image. The home of an agent that is a program is where it finds what we write for it."""
    if try_.root is None or not is_program(try_.job.agent.harness):
        return try_.root
    return replace(try_.root, home=HOME)


def spec_of(try_: TrialContext) -> SandboxEnvironmentSpec:
    """For the sample of a trial."""
    from inspect_ai.util import SandboxEnvironmentSpec

    from worksample.sandboxes.provider import BoxSpec

    kind = try_.job.config.sandbox
    return SandboxEnvironmentSpec("worksample", BoxSpec(box=box_config(try_), kind=kind))


def box_of() -> Box | None:
    """The current sample's box, or None where there is none."""
    from inspect_ai.util import sandbox

    from worksample.sandboxes import provider

    try:
        return provider.box_of(sandbox())
    except ProcessLookupError:
        return None
