"""How samples reach an agent's task while the eval runs."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample


class SampleFeed:
    """One agent's task: samples are given to it one by one, until it is closed."""

    def __init__(self) -> None:
        self._box: list[Sample] = []
        self._context: contextvars.Context | None = None
        self._idle = True
        self._closed = False
        self._woken = asyncio.Event()

    @property
    def empty(self) -> bool:
        """Whether nothing was given and nothing will be."""
        return self._closed and not self._box

    def give(self, sample: Sample) -> None:
        """Start a sample in the task."""
        from inspect_ai import enqueue_sample

        if self._idle or self._context is None:
            self._box.append(sample)
            self._woken.set()
        else:
            # The task takes additions from its own context only, and this may be another's.
            self._context.copy().run(enqueue_sample, sample)

    def close(self) -> None:
        """No more samples come: the task ends when those it has are done."""
        self._closed = True
        self._woken.set()

    async def next(self) -> list[Sample] | None:
        """What the task asks when none of its samples is in work; None ends it."""
        self._context = contextvars.copy_context()
        self._idle = True
        while not self._box and not self._closed:
            self._woken.clear()
            await self._woken.wait()
        given, self._box = self._box, []
        self._idle = False
        return given or None
