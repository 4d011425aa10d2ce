"""The questions of one evaluation, with all that they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from worksample.errors import JudgeError
from worksample.models import Exhibit, JudgeReply, ModelRole, Probe, ask, plus
from worksample.records import Usage

from .material import unshown_error

HIDDEN = 100
"""Files that are kept in the record as not shown."""


@dataclass
class JudgeSession:
    """Put probes to a judge; `record` is what is kept beside the evaluation."""

    role: ModelRole
    asked: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    hidden: list[dict[str, str]] = field(default_factory=list)
    """The files that could not be shown, and whose fault that is."""

    async def ask_about(self, probe: Probe, hidden: Sequence[Exhibit]) -> JudgeReply:
        """The answer to a probe about work of which `hidden` could not be shown: the judge is asked whether it could
        inspect the work without. JudgeError (`judge.unshown`) where it could not, and as `__call__`.
        """
        self.hidden = [{"name": e.name, "why": e.visibility.value} for e in hidden[:HIDDEN]]
        answer = await self(replace(probe, asks_inspected=bool(hidden)))
        if not answer.inspected:
            raise unshown_error(hidden)
        return answer

    async def __call__(self, probe: Probe) -> JudgeReply:
        """JudgeError where there is no answer; its calls are recorded and paid all the same."""
        try:
            answer, used = await ask(self.role, probe)
        except JudgeError as error:
            self._keep(probe, {"failed": error.what[:500], "calls": error.record.get("calls", [])}, error.usage)
            raise
        quotes = [{"exhibit": q.exhibit, "text": q.text[:500], "checked": q.checked} for q in answer.quotes]
        kept: dict[str, Any] = {"value": answer.value, "quotes": quotes, "calls": answer.record["calls"]}
        if answer.orders:
            kept["orders"] = list(answer.orders)
        if probe.asks_inspected:
            kept["inspected"] = answer.inspected
        self._keep(probe, kept, used)
        return answer

    def _keep(self, probe: Probe, entry: dict[str, Any], used: object) -> None:
        self.asked.append({"ask": probe.kind.value, **entry})
        if isinstance(used, Usage) and used.requests:
            self.usage = plus(self.usage, used) if self.usage.requests else used

    @property
    def record(self) -> dict[str, Any]:
        return {
            "judge": {"role": self.role.name, "model": self.role.model, "version": self.role.version},
            "asked": self.asked,
            "usage": {self.role.name: self.usage.plain()},
            **({"hidden": self.hidden} if self.hidden else {}),
        }
