"""Work that must finish even if the waiting task is cancelled: half-removed remains would never be found again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(work: Awaitable[T]) -> T:
    """Return the result of `work`, which goes on through every cancellation; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as cancellation:
            cancelled = cancellation
    if cancelled is not None:
        await asyncio.gather(task, return_exceptions=True)  # read its failure, which the cancellation overrides
        raise cancelled
    return task.result()
