"""A session with a judge: the questions of one evaluation, with their calls and usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from worksample.errors import JudgeError
from worksample.models import Exhibit, JudgeReply, ModelRole, Probe, add_priced_usage, ask_judge
from worksample.records import Usage

from .judge_material import unshown_error

HIDDEN = 100
"""Maximum number of entries in the record's list of files that could not be shown."""


@dataclass
class JudgeSession:
    """A session that asks a judge the questions of one evaluation. `record` is stored with the evaluation."""

    role: ModelRole
    asked: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    hidden: list[dict[str, str]] = field(default_factory=list)
    """Files that could not be shown to the judge, each with the reason."""

    async def ask_about(self, probe: Probe, hidden: Sequence[Exhibit]) -> JudgeReply:
        """Ask a question about work. The exhibits `hidden` could not be shown to the judge. The judge also says whether
        it could inspect the work without them.

        Raises JudgeError (`judge.unshown` or a similar cause) if the judge could not inspect the work, or if the judge
        does not answer.
        """
        self.hidden = [{"name": e.name, "why": e.visibility.value} for e in hidden[:HIDDEN]]
        answer = await self(replace(probe, asks_inspected=bool(hidden)))
        if not answer.inspected:
            raise unshown_error(hidden)
        return answer

    async def __call__(self, probe: Probe) -> JudgeReply:
        """Ask a question. Raises JudgeError if the judge does not answer. The calls are recorded and paid for in both
        cases.
        """
        try:
            answer, used = await ask_judge(self.role, probe)
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
            self.usage = add_priced_usage(self.usage, used) if self.usage.requests else used

    @property
    def record(self) -> dict[str, Any]:
        return {
            "judge": {"role": self.role.name, "model": self.role.model, "version": self.role.version},
            "asked": self.asked,
            "usage": {self.role.name: self.usage.plain()},
            **({"hidden": self.hidden} if self.hidden else {}),
        }
