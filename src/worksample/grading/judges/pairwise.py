"""Which of two is closer to completing the work, and which is better overall (RLI 3.4), each asked in both orders."""

from __future__ import annotations

from worksample.errors import Cause, JudgeError
from worksample.models import pair
from worksample.records import Pairwise, PairwiseChoice

from .material import JudgeMaterial, both, hidden_in
from .session import JudgeSession

COMPLETION = "Which of the two is closer to having done all of what was commissioned?"
QUALITY = "Which of the two would a client rather have, all in all?"


async def pairwise(material: JudgeMaterial, asking: JudgeSession) -> Pairwise:
    """Orders that contradict each other are `equal`. JudgeError where there is no answer, or no second submission."""
    other = material.asked.second
    if other is None:
        raise JudgeError("a pair needs a second submission", cause=Cause.JUDGE_LACKS)
    first, second = await both(material.work(), material.work(other))
    if not first or not second:
        side = (
            PairwiseChoice.EQUAL
            if not first and not second
            else PairwiseChoice.FIRST
            if first
            else PairwiseChoice.SECOND
        )
        return Pairwise(completion=side, quality=side, justification="nothing was delivered")
    hidden = (*hidden_in(first), *hidden_in(second))
    sides, reasons = [], []
    for question in (COMPLETION, QUALITY):
        answer = await asking.seeing(pair(f"{material.brief}\n\n{question}", first, second), hidden)
        sides.append(PairwiseChoice(str(answer.value)))
        reasons.append(answer.reason)
    return Pairwise(completion=sides[0], quality=sides[1], justification="\n\n".join(reasons))
