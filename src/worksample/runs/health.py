"""A task's own look at the agent's box, before the agent begins."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from worksample.errors import Cause, SandboxError

if TYPE_CHECKING:
    from worksample.records import HealthSpec

_SAID = 500
"""Characters of what the last look said."""


async def healthy(spec: HealthSpec) -> None:
    """Wait until the current sample's box is healthy; looks follow each other as Docker's do. Raises SandboxError
    (`service.start`).
    """
    begun, failed = time.monotonic(), 0
    while True:
        early = time.monotonic() - begun < spec.start_period
        said = await _look(spec)
        if said is None:
            return
        failed += not early
        if failed >= spec.retries:
            raise SandboxError(
                f"the health check failed {failed} times in a row: {spec.command[:_SAID]}: {said[-_SAID:]}",
                where="environment.health",
                cause=Cause.SERVICE_START,
            )
        await asyncio.sleep(spec.start_interval if early else spec.interval)


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
