"""A test double of an evaluator, whose answers are fixed in advance."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from worksample.errors import Cause
from worksample.records import Evaluator, EvaluatorKind, Payload, now

from .evaluators import EvaluationRequest, EvaluatorReply


class ScriptedEvaluator:
    """An evaluator that gives the same answer to every request, after the failures that were set for this request."""

    def __init__(
        self, name: str, payload: Payload | None, *, failures: Mapping[int, Sequence[Cause]] | None = None,
        repeats: int = 1, kind: EvaluatorKind = EvaluatorKind.JUDGE,
    ) -> None:  # fmt: skip
        """Create the evaluator. failures: for each number `n`, the causes with which the n-th evaluation of a
        submission fails before it succeeds.
        """
        self.evaluator = Evaluator(id=f"{name}@1", name=name, type=kind, version="1", at=now())
        self.means = ""
        self.repeats, self._payload, self._failures = repeats, payload, failures or {}
        self.asked: Counter[tuple[str, int]] = Counter()
        """Number of requests by submission and number `n`."""

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Return the next failure that was set for the request, or the fixed answer if no failure is left."""
        key = (asked.submission.id, asked.n)
        self.asked[key] += 1
        await asyncio.sleep(0)
        failing = self._failures.get(asked.n, ())
        if self.asked[key] <= len(failing):
            return EvaluatorReply(cause=failing[self.asked[key] - 1], reason="as the script says")
        return EvaluatorReply(self._payload, minutes=1.0, cost=0.01)
