"""Programs as evaluators: the grader of a task package, which runs in its own box."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from worksample import __version__
from worksample.errors import (
    POLICY,
    Boundary,
    CaptureError,
    Cause,
    ExportError,
    GraderError,
    RecordMissing,
    SandboxError,
    StoreFull,
)
from worksample.models import Roles
from worksample.models.judge_config import describe_judges
from worksample.records import Evaluator, EvaluatorKind, Round, now

from .evaluators import WAITING, EvaluationRequest, EvaluatorReply, Evaluators, RoundEvaluator
from .grading_boxes import grading_boxes
from .run_grader import GraderEnd, run_grader

TRIES = 2
"""Maximum number of times that a grader is started if the sandbox fails and not the grader."""


@dataclass(frozen=True, slots=True)
class ProgramEvaluator:
    """The graders of all task packages as one evaluator. Each version of the platform is a separate evaluator."""

    sandbox: str = "bubblewrap"
    repeats: int = 1
    roles: Roles = field(default_factory=dict)
    """The judges that a grader may ask, by role."""

    @property
    def evaluator(self) -> Evaluator:
        """Return the evaluator's record. All graders share one evaluator; each evaluation names its grading and thus
        its grader.
        """
        return Evaluator(
            id=f"program@{__version__}", name="program", type=EvaluatorKind.PROGRAM, version=__version__, at=now()
        )

    @property
    def means(self) -> str:
        """Return a text that describes the judges that the grader may ask."""
        return describe_judges(self.roles)

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Run the grader. If the sandbox fails, run the grader once more."""
        ended, tries = GraderEnd(), 0
        while tries < TRIES:
            tries += 1
            ended = await self._grade_once(asked)
            # A failed judge was tried often enough already, and another grading would pay for all of its answers again.
            if ended.cause is None or not POLICY[ended.cause].retry or POLICY[ended.cause].boundary is Boundary.JUDGE:
                break
        record = {"tries": tries, "sandbox": self.sandbox, "kit": __version__, **ended.record}
        if ended.cause in WAITING:
            record["means"] = self.means
        return EvaluatorReply(ended.grade, ended.cause, ended.reason, record, cost=ended.cost)

    async def _grade_once(self, asked: EvaluationRequest) -> GraderEnd:
        try:
            place = await asyncio.to_thread(grading_boxes, asked.store, asked.submission, asked.instance, asked.grading)
        except StoreFull:
            raise
        except (RecordMissing, CaptureError) as error:
            return GraderEnd(cause=Cause.STORE_ERROR, reason=str(error))
        except GraderError as error:
            return GraderEnd(cause=error.cause, reason=error.what)
        except ExportError as error:
            return GraderEnd(cause=Cause.GRADER_STATE, reason=str(error))
        except SandboxError as error:
            return GraderEnd(cause=Cause.GRADER_SANDBOX, reason=str(error))
        return await run_grader(place, asked.grading, asked.store.blobs, sandbox=self.sandbox, roles=self.roles)


def evaluators_of(round: Round, here: Evaluators) -> tuple[RoundEvaluator, ...]:
    """Return the evaluators that this process asks in a round. The result is empty if people answer, or if no judge is
    configured.
    """
    if round.by is EvaluatorKind.PROGRAM:
        return (ProgramEvaluator(here.sandbox, roles=here.roles),)
    return tuple(here.judges(round)) if round.by is EvaluatorKind.JUDGE else ()
