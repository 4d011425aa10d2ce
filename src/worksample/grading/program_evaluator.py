"""Programs as evaluators: the grader of a package, in its own box."""

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
from worksample.models.judge import describe_judges
from worksample.records import Evaluator, EvaluatorKind, now

from .evaluators import WAITING, EvaluationRequest, EvaluatorReply
from .grading_boxes import grading_boxes
from .run_grader import GraderEnd, run_grader

TRIES = 2
"""How often a grading is started if the sandbox, not the grader, fails."""


@dataclass(frozen=True, slots=True)
class ProgramEvaluator:
    """The grader of a package as an evaluator; one evaluator per version of the platform."""

    sandbox: str = "bubblewrap"
    repeats: int = 1
    roles: Roles = field(default_factory=dict)
    """The judges that a grader may ask."""

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator's record. All programs are one evaluator: each evaluation names the grading in force, which
        tells graders apart.
        """
        return Evaluator(
            id=f"program@{__version__}", name="program", type=EvaluatorKind.PROGRAM, version=__version__, at=now()
        )

    @property
    def means(self) -> str:
        """The judges that the grader may ask."""
        return describe_judges(self.roles)

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Run the grader; if the sandbox fails, run it once more."""
        ended, tries = GraderEnd(), 0
        while tries < TRIES:
            tries += 1
            ended = await self._once(asked)
            # A judge that failed was asked often enough, and another grading would pay for all its answers again.
            if ended.cause is None or not POLICY[ended.cause].retry or POLICY[ended.cause].boundary is Boundary.JUDGE:
                break
        record = {"tries": tries, "sandbox": self.sandbox, "kit": __version__, **ended.record}
        if ended.cause in WAITING:
            record["means"] = self.means
        return EvaluatorReply(ended.grade, ended.cause, ended.reason, record, cost=ended.cost)

    async def _once(self, asked: EvaluationRequest) -> GraderEnd:
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
