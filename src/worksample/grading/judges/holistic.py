"""Would a reasonable client accept it as commissioned work (RLI 3.4), against the human's deliverable."""

from __future__ import annotations

from typing import Literal, cast

from worksample.models import ExhibitLimits, choice
from worksample.models.exhibit import within
from worksample.records import Holistic

from .material import JudgeMaterial, both, hidden_in
from .session import JudgeSession

MEANING = {
    "1": "no reasonable client would accept it as the commissioned work",
    "2": "a reasonable client would accept it: it does what was commissioned, about as well as the reference",
    "3": "it does what was commissioned clearly better than the reference",
}
INSTRUCTION = (
    "You compare the work with a reference that a professional made for the same brief, and say whether a reasonable "
    "client would accept it. Work that lacks a part of what was commissioned, or whose files are damaged, is not "
    "acceptable. That a file could not be shown to you, through no fault of the work, is no reason against it."
)
Score = Literal[1, 2, 3]


async def holistic(material: JudgeMaterial, asking: JudgeSession) -> Holistic:
    """1 to 3. JudgeError where there is no answer. Work that is nothing at all is 1 without a question."""
    work, reference = await both(material.work(), material.reference())
    if not work:
        return Holistic(score=1, justification="nothing was delivered")
    hidden = hidden_in(work, reference)
    limits = material.role.config.limits
    half = ExhibitLimits(limits.count // 2, limits.characters // 2, limits.pictures // 2, limits.picture_bytes)
    (mine, mine_left), (theirs, theirs_left) = within(work, half), within(reference, half)
    left = [f"(of the work: {said})" for said in mine_left] + [f"(of the reference: {said})" for said in theirs_left]
    meanings = "\n".join(f"{score}: {text}" for score, text in MEANING.items())
    question = "\n\n".join([material.brief, *left, f"Which holds of the work that was delivered?\n{meanings}"])
    answer = await asking.seeing(choice(question, tuple(MEANING), *mine, *theirs, instruction=INSTRUCTION), hidden)
    return Holistic(score=cast("Score", int(str(answer.value))), justification=answer.reason)
