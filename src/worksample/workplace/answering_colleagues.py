"""Colleagues who answer people in a running workplace (`worksample workplace up --colleagues`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.box import Box
from worksample.errors import UsageError
from worksample.models import ModelService

from .colleagues.colleague_profile import Colleague
from .colleagues.colleague_runner import ColleagueRunner
from .company_reader import read_company
from .export_folder import is_export
from .workplace import LiveWorkplace

RULES = "rules"
"""Value of `--colleagues` with which only colleagues answer who answer by rules."""


def answering(root: Path, by: str, services: Sequence[str]) -> tuple[Colleague, ...]:
    """Return the colleagues of a company who will answer, played by rules or by the model `by`.

    Raises UsageError if there is none: the chat is not started, the folder is an export (which holds no colleagues), or
    all colleagues need a model.
    """
    where, up = "--colleagues", f"worksample workplace up {root}"
    if "chat" not in services:
        raise UsageError(
            "colleagues answer in the chat, which is not started", where=where, next=f"{up} --services chat"
        )
    if is_export(root):
        raise UsageError("an export holds no colleagues, only the services' state", where=where, next=up)
    found = read_company(root).colleagues
    kept = tuple(
        one.replaced(backing="model") if by != RULES else one for one in found if by != RULES or one.backing == "rules"
    )
    if not kept:
        next = f"{up} --colleagues PROVIDER/MODEL" if found else up
        raise UsageError(
            f"no colleague of this company answers by rules; it has {len(found)} colleagues", where=where, next=next
        )
    return kept


@dataclass
class AnsweringColleagues:
    """The colleagues of a running workplace. After a reset of the services they have forgotten every conversation."""

    workplace: LiveWorkplace
    box: Box
    by: str
    runner: ColleagueRunner | None = None
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def start(self) -> None:
        """Begin to answer. Raises SandboxError if the chat does not answer."""
        model = None if self.by == RULES else self.by
        self.runner = self.workplace.colleague_runner(self.box, model, ModelService())
        await self._open.enter_async_context(self.runner.run())

    async def stop(self) -> None:
        """Stop answering."""
        await self._open.aclose()

    def status(self) -> dict[str, Any]:
        """Return who answers, how many messages were answered, and the last fault of the model's service."""
        lines = self.runner.lines if self.runner is not None else []
        faults = [str(one["failed"]) for one in lines if one.get("failed")]
        return {
            "by": self.by,
            "people": [one.id for one in self.workplace.colleagues],
            "answered": sum(bool(one.get("heard") and one.get("said")) for one in lines),
            "failed": len(faults),
            "last_fault": faults[-1] if faults else "",
        }
