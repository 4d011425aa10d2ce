"""Health checks of a box, repeated as Docker's HEALTHCHECK does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from worksample.stall_tolerant_loop import steady_time

if TYPE_CHECKING:
    from worksample.records import HealthSpec

LONGEST_MESSAGE = 500
"""Maximum characters of a probe's last message."""
HealthProbe = Callable[[], Awaitable[str | None]]
"""Returns None if the box is healthy, else the probe's message."""


async def health_failure(spec: HealthSpec, look: HealthProbe) -> str:
    """Probe until the box is healthy and return ""; return the failed check and its last message after too many
    failures.
    """
    begun, failed = steady_time(), 0
    while True:
        early = steady_time() - begun < spec.start_period
        said = await look()
        if said is None:
            return ""
        failed += not early
        if failed >= spec.retries:
            command, message = spec.command[:LONGEST_MESSAGE], said[-LONGEST_MESSAGE:]
            return f"the health check failed {failed} times in a row: {command}: {message}"
        await asyncio.sleep(spec.start_interval if early else spec.interval)
