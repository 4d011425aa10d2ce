"""What a judge is shown of a submission, and what it and its reference are called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from worksample.grading.evaluators import Asked
from worksample.models import Exhibit, Role
from worksample.records import Submission

if TYPE_CHECKING:
    from worksample.store import Store

UNSEEN = "what could not be shown"
"""The side of an exhibit that says why a file is not there to look at; `viewing.exhibits` writes the same."""
REFERENCE = "the reference, made by a person"
Render = Callable[["Store", str], Awaitable[tuple[Exhibit, ...]]]
"""From the digest of a manifest to its files as people see them. `viewing.exhibits` is one."""


@dataclass(frozen=True, slots=True)
class Material:
    """A judge, what it is asked about, and how that is made visible."""

    role: Role
    asked: Asked
    render: Render

    async def work(self, submission: Submission | None = None) -> tuple[Exhibit, ...]:
        """The deliverables, by default those that are judged."""
        parts = (submission or self.asked.submission).parts
        return await self.render(self.asked.store, parts["output"].manifest)

    async def reference(self) -> tuple[Exhibit, ...]:
        """The human's deliverable, as people see it."""
        digest = self.asked.instance.shown_reference or self.asked.grading.reference
        return tuple(replace(e, side=REFERENCE) for e in await self.render(self.asked.store, digest))

    @property
    def brief(self) -> str:
        """What was commissioned: the task author's words."""
        notes = self.asked.grading.notes.strip()
        said = f"The work was commissioned by this brief:\n\n{self.asked.instance.work.brief.strip()}"
        return f"{said}\n\nNotes for those who judge:\n\n{notes}" if notes else said


async def both(one: Awaitable[tuple[Exhibit, ...]], other: Awaitable[tuple[Exhibit, ...]]) -> tuple[
    tuple[Exhibit, ...], tuple[Exhibit, ...]
]:  # fmt: skip
    """Two renderings side by side."""
    first, second = await asyncio.gather(one, other)
    return first, second
