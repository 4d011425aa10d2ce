"""The questions of one evaluation, with all that they took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from worksample.errors import JudgeError
from worksample.models import Answer, Probe, Role, ask, plus
from worksample.records import Usage


@dataclass
class Asking:
    """Put probes to a judge; `record` is what is kept beside the evaluation."""

    role: Role
    asked: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    async def __call__(self, probe: Probe) -> Answer:
        """JudgeError where there is no answer; its calls are recorded and paid all the same."""
        try:
            answer, used = await ask(self.role, probe)
        except JudgeError as error:
            self._keep(probe, {"failed": error.what[:500], "calls": error.record.get("calls", [])}, error.usage)
            raise
        quotes = [{"exhibit": q.exhibit, "text": q.text[:500], "checked": q.checked} for q in answer.quotes]
        kept = {"value": answer.value, "quotes": quotes, "calls": answer.record["calls"]}
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
        }
