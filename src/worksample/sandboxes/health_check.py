"""Health checks of a box, repeated as Docker's HEALTHCHECK does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from worksample.stall_tolerant_loop import steady_time

if TYPE_CHECKING:
    from worksample.records import HealthSpec

LONGEST_MESSAGE = 500
"""Maximum characters of a health check's command and of its last message in an error."""
HealthProbe = Callable[[], Awaitable[str | None]]
"""Type of a function that checks a box once. It returns None if the box is healthy, otherwise the message of the
check.
"""


async def health_failure(spec: HealthSpec, look: HealthProbe) -> str:
    """Repeat a health check until the box is healthy, and return "". After too many failures in a row, return a text
    with the failed command and its last message.
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
