"""Programs as evaluators: the grader of a package, in a box of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from worksample import __version__
from worksample.errors import POLICY, CaptureError, Cause, RecordMissing, StoreFull
from worksample.records import Evaluator, EvaluatorKind, now

from .boxes import grading_boxes
from .evaluators import Answer, Asked
from .run_grader import Ended, run_grader

TRIES = 2
"""How often a grading is begun where the sandbox, and not the grader, failed."""


@dataclass(frozen=True, slots=True)
class ByProgram:
    """`Evaluates` by the package's own grader; one evaluator per version of the platform."""

    sandbox: str = "bubblewrap"
    repeats: int = 1

    @property
    def evaluator(self) -> Evaluator:
        """Programs are one evaluator: what tells graders apart is the grading in force, which each evaluation names."""
        return Evaluator(
            id=f"program@{__version__}", name="program", type=EvaluatorKind.PROGRAM, version=__version__, at=now()
        )

    async def evaluate(self, asked: Asked) -> Answer:
        """Run the grader; where the sandbox fails it is tried once more."""
        ended, tries = Ended(), 0
        while tries < TRIES:
            tries += 1
            ended = await self._once(asked)
            if ended.cause is None or not POLICY[ended.cause].retry:
                break
        record = {"tries": tries, "sandbox": self.sandbox, "kit": __version__, **ended.record}
        return Answer(ended.grade, ended.cause, ended.reason, record)

    async def _once(self, asked: Asked) -> Ended:
        try:
            place = await asyncio.to_thread(grading_boxes, asked.store, asked.submission, asked.instance, asked.grading)
        except StoreFull:
            raise
        except (RecordMissing, CaptureError) as error:
            return Ended(cause=Cause.STORE_ERROR, reason=str(error))
        return await run_grader(place, asked.grading, asked.store.blobs, sandbox=self.sandbox)
