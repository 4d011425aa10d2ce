"""Judge models as evaluators. Each model of a role is a separate evaluator."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from worksample.errors import JudgeError
from worksample.grading.evaluators import EvaluationRequest, EvaluatorReply, RoundEvaluator
from worksample.models import ModelRole, Roles
from worksample.records import Evaluator, EvaluatorKind, Payload, Protocol, Round, now

from .judge_material import JudgeMaterial, Render
from .protocol_questions import judge_holistic, judge_pairwise, judge_rubric
from .session import JudgeSession

PROTOCOLS: dict[Protocol, Callable[[JudgeMaterial, JudgeSession], Awaitable[Payload]]] = {
    **dict.fromkeys((Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC), judge_rubric),
    Protocol.HOLISTIC: judge_holistic,
    Protocol.PAIRWISE: judge_pairwise,
}


@dataclass(frozen=True)
class JudgeEvaluator:
    """A judge model in one role. The evaluator's id contains the version of prompt and settings, so that a changed
    judge is another evaluator.
    """

    role: ModelRole
    render: Render

    @property
    def repeats(self) -> int:
        return self.role.config.repeats

    @property
    def means(self) -> str:
        """Return the judge's budget as text. If the budget changes, evaluations that failed because it was spent are
        requested again.
        """
        return f"calls {self.role.config.calls}, cost {self.role.config.cost}"

    @cached_property
    def evaluator(self) -> Evaluator:
        """Return the evaluator's record, whose name contains role and model. A model has the same record alone and in a
        panel of judges.
        """
        return Evaluator(
            id=f"judge.{self.role.name}@{self.role.version}",
            name=f"{self.role.name} ({self.role.model})",
            type=EvaluatorKind.JUDGE,
            version=self.role.version,
            at=now(),
        )

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Judge a submission. Failures of the deliverable or of the judge are returned as causes. Raises StoreError if
        the store cannot be read.
        """
        asking, began = JudgeSession(self.role), time.monotonic()
        try:
            payload = await PROTOCOLS[asked.round.protocol](JudgeMaterial(self.role, asked, self.render), asking)
        except JudgeError as error:
            record = {**asking.record, "means": self.means}
            return EvaluatorReply(None, error.cause, str(error), record, cost=asking.usage.cost)
        minutes = (time.monotonic() - began) / 60
        return EvaluatorReply(payload, record=asking.record, minutes=minutes, cost=asking.usage.cost)


def judges_for(roles: Roles, render: Render) -> Callable[[Round], Sequence[RoundEvaluator]]:
    """Return a function for `Evaluators.judges`. The function returns the judges that are configured for the protocol
    of a round, ordered by role.
    """

    def judges(round: Round) -> Sequence[RoundEvaluator]:
        found = [role for models in roles.values() for role in models if round.protocol in role.config.rounds]
        return tuple(JudgeEvaluator(role, render) for role in found)

    return judges
