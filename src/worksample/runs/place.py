"""The box of a trial: what is mounted where, and how to get at it from inside a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.agents.desk import SCRATCH
from worksample.box import Box, BoxConfig, BoxLimits, Mount

from .attempt import Attempt

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironmentSpec


def box_config(attempt: Attempt) -> BoxConfig:
    """The agent's box: input and software read-only, output and scratch to write to, and nothing of the reference."""
    paths, limits = attempt.instance.work.environment.paths, attempt.limits
    return BoxConfig(
        mounts=(Mount(str(attempt.inputs), paths.input), Mount(str(attempt.software), paths.software)),
        output=paths.output,
        scratch=SCRATCH,
        limits=BoxLimits(memory=limits.memory, processes=limits.processes, disk=limits.disk),
        label=attempt.id,
    )


def spec_of(attempt: Attempt) -> SandboxEnvironmentSpec:
    """For the sample of a trial."""
    from inspect_ai.util import SandboxEnvironmentSpec

    from worksample.sandboxes.provider import BoxSpec

    kind = attempt.job.config.sandbox
    return SandboxEnvironmentSpec("worksample", BoxSpec(box=box_config(attempt), kind=kind))


def box_of() -> Box | None:
    """The current sample's box, or None where there is none."""
    from inspect_ai.util import sandbox

    from worksample.sandboxes import provider

    try:
        return provider.box_of(sandbox())
    except ProcessLookupError:
        return None
