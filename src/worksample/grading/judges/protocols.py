"""A rubric by a judge: a yes/no question for each criterion that is a judge's; code makes the grade of the answers."""

from __future__ import annotations

import math
from typing import Literal, cast

from worksample.errors import Cause, JudgeError
from worksample.models import Exhibit, ExhibitLimits, Probe, choice, pair, yes_no
from worksample.models.exhibit import within
from worksample.records import By, Criterion, GradePayload, Holistic, Importance, Pairwise, PairwiseChoice, PartPayload

from .material import JudgeMaterial, both, hidden_in
from .session import JudgeSession

HOLDS = (
    "You check one criterion of a rubric. Say yes only where the exhibits show that the work meets it in full; "
    "where they do not show it, or show it in part, the answer is no."
)
PITFALL = (
    "You look for one fault in the work. Say yes only where the exhibits show that the work has it; where they do not "
    "show it, the answer is no."
)


def probe_of(criterion: Criterion, brief: str, exhibits: tuple[Exhibit, ...]) -> Probe:
    """The question of one leaf. Of a pitfall it is whether it is there."""
    pitfall = criterion.importance is Importance.PITFALL
    asks = "The fault to look for" if pitfall else "The criterion"
    return yes_no(f"{brief}\n\n{asks}: {criterion.text}", *exhibits, instruction=PITFALL if pitfall else HOLDS)


async def rubric(material: JudgeMaterial, asking: JudgeSession) -> GradePayload:
    """Grades the leaves with `by = "judge"`, and no others. JudgeError at the first question without an answer."""
    leaves = [leaf for leaf in material.asked.grading.criteria.leaves if leaf.by is By.JUDGE]
    if not leaves:
        raise JudgeError(
            "no criterion here is for a judge to decide",
            cause=Cause.JUDGE_LACKS,
            next='set by = "judge" in criteria.toml',
        )
    exhibits = await material.work()
    hidden = hidden_in(exhibits)
    parts = []
    for leaf in leaves:
        yes, reason = False, "nothing was delivered"
        if exhibits:
            answer = await asking.seeing(probe_of(leaf, material.brief, exhibits), hidden)
            yes, reason = bool(answer.value), answer.reason
        parts.append(part_of(leaf, yes != (leaf.importance is Importance.PITFALL), reason))
    return integrated(parts)


def part_of(leaf: Criterion, passed: bool, reason: str) -> PartPayload:
    return PartPayload(
        name=leaf.id, points=leaf.worth, fraction=float(passed), importance=leaf.importance, gate=leaf.gate,
        reason=reason,
    )  # fmt: skip


def integrated(parts: list[PartPayload]) -> GradePayload:
    """The share of the points; 0 behind a closed gate. What a rubric comes to, `verdicts` says from the leaves."""
    closed = [p.name for p in parts if p.gate and not p.passed]
    share = math.fsum(p.points * (p.fraction or 0.0) for p in parts) / math.fsum(p.points for p in parts)
    reason = f"not passed: {', '.join(closed)}" if closed else ""
    return GradePayload(score=0.0 if closed else share, parts=tuple(parts), composition="judged", reason=reason)


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
