"""Looks at a box until it is well, as Docker's HEALTHCHECK does it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from worksample.steady_loop import steady_time

if TYPE_CHECKING:
    from worksample.records import HealthSpec

LONGEST_MESSAGE = 500
"""Characters of what the last look said."""
HealthProbe = Callable[[], Awaitable[str | None]]
"""None where it is well, else what it said."""


async def health_failure(spec: HealthSpec, look: HealthProbe) -> str:
    """Nothing once it is well; else what was looked for and what the last look said."""
    begun, failed = steady_time(), 0
    while True:
        early = steady_time() - begun < spec.start_period
        said = await look()
        if said is None:
            return ""
        failed += not early
        if failed >= spec.retries:
            return f"the health check failed {failed} times in a row: {spec.command[:LONGEST_MESSAGE]}: {said[-LONGEST_MESSAGE:]}"
        await asyncio.sleep(spec.start_interval if early else spec.interval)
