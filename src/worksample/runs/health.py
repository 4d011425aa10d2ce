"""A task's own look at the agent's box, before the agent begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.errors import Cause, SandboxError
from worksample.sandboxes.health_check import health_failure

if TYPE_CHECKING:
    from worksample.records import HealthSpec


async def healthy(spec: HealthSpec) -> None:
    """Wait until the current sample's box is healthy. Raises SandboxError (`service.start`)."""
    if why := await health_failure(spec, lambda: _look(spec)):
        raise SandboxError(why, where="environment.health", cause=Cause.SERVICE_START)


async def _look(spec: HealthSpec) -> str | None:
    """None where it is well, else what it said."""
    from inspect_ai.util import sandbox

    try:
        done = await sandbox().exec(
            ["sh", "-c", spec.command], timeout=max(1, round(spec.timeout)), timeout_retry=False
        )
    except TimeoutError:
        return f"no answer within {spec.timeout:g} s"
    return None if done.success else (done.stdout + done.stderr).strip() or f"exit status {done.returncode}"
