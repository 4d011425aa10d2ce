"""A shield for work that must finish even if the waiting task is cancelled. Without the shield, half-removed files of a
box would never be found again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(work: Awaitable[T]) -> T:
    """Wait for `work` through every cancellation and return its result. A cancellation is raised after the work has
    finished.
    """
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
