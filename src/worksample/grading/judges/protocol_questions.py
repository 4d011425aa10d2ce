"""The questions to a judge under each protocol, and the conversion of the answers to a payload.

Rubric: a yes/no question for each criterion that a judge decides. Holistic: whether a reasonable client would accept
the work (RLI 3.4). Pairwise: which of two submissions is closer to completion, and which is better overall (RLI 3.4).
"""

from __future__ import annotations

import math
from typing import Literal, cast

from worksample.errors import Cause, JudgeError
from worksample.models import Exhibit, ExhibitLimits, Probe, choice, pair, yes_no
from worksample.models.judge_exhibit import limit_exhibits
from worksample.records import By, Criterion, GradePayload, Holistic, Importance, Pairwise, PairwiseChoice, PartPayload

from .judge_material import JudgeMaterial, hidden_exhibits, render_both
from .session import JudgeSession

HOLDS = (
    "You check one criterion of a rubric. Answer yes only if the exhibits show that the work meets the criterion in "
    "full. If they do not show it, or show it only in part, answer no."
)
PITFALL = (
    "You look for one fault in the work. Answer yes only if the exhibits show that the work has this fault. If they do "
    "not show it, answer no."
)


def probe_of(criterion: Criterion, brief: str, exhibits: tuple[Exhibit, ...]) -> Probe:
    """Build the question about one criterion. For a pitfall, the question is whether the work has this fault."""
    pitfall = criterion.importance is Importance.PITFALL
    asks = "The fault to look for" if pitfall else "The criterion"
    return yes_no(f"{brief}\n\n{asks}: {criterion.text}", *exhibits, instruction=PITFALL if pitfall else HOLDS)


async def judge_rubric(material: JudgeMaterial, asking: JudgeSession) -> GradePayload:
    """Grade the criteria whose field `by` is `judge`, and no others. Raises JudgeError at the first question that the
    judge does not answer.
    """
    leaves = [leaf for leaf in material.asked.grading.criteria.leaves if leaf.by is By.JUDGE]
    if not leaves:
        raise JudgeError(
            "no criterion is decided by a judge",
            cause=Cause.JUDGE_LACKS,
            next='set by = "judge" in criteria.toml',
        )
    exhibits = await material.work()
    hidden = hidden_exhibits(exhibits)
    parts = []
    for leaf in leaves:
        yes, reason = False, "nothing was delivered"
        if exhibits:
            answer = await asking.ask_about(probe_of(leaf, material.brief, exhibits), hidden)
            yes, reason = bool(answer.value), answer.reason
        parts.append(part_of(leaf, yes != (leaf.importance is Importance.PITFALL), reason))
    return combine_parts(parts)


def part_of(leaf: Criterion, passed: bool, reason: str) -> PartPayload:
    return PartPayload(
        name=leaf.id, points=leaf.worth, fraction=float(passed), importance=leaf.importance, gate=leaf.gate,
        reason=reason,
    )  # fmt: skip


def combine_parts(parts: list[PartPayload]) -> GradePayload:
    """Combine parts into a grade. The score is the share of the earned points, or 0 if a gate failed. `results`
    computes the verdict of a rubric from the parts.
    """
    closed = [p.name for p in parts if p.gate and not p.passed]
    share = math.fsum(p.points * (p.fraction or 0.0) for p in parts) / math.fsum(p.points for p in parts)
    reason = f"not passed: {', '.join(closed)}" if closed else ""
    return GradePayload(score=0.0 if closed else share, parts=tuple(parts), composition="judged", reason=reason)


MEANING = {
    "1": "no reasonable client would accept it as the commissioned work",
    "2": "a reasonable client would accept it: it fulfils the brief about as well as the reference",
    "3": "it fulfils the brief clearly better than the reference",
}
INSTRUCTION = (
    "You compare the work with a reference that a professional made for the same brief, and decide whether a "
    "reasonable client would accept the work. Work that lacks a commissioned part, or whose files are damaged, is not "
    "acceptable. A file that could not be shown to you does not count against the work if the work is not to blame."
)
Score = Literal[1, 2, 3]


async def judge_holistic(material: JudgeMaterial, asking: JudgeSession) -> Holistic:
    """Rate the work from 1 to 3. An empty submission gets 1 without a question. Raises JudgeError if the judge does not
    answer.
    """
    work, reference = await render_both(material.work(), material.reference())
    if not work:
        return Holistic(score=1, justification="nothing was delivered")
    hidden = hidden_exhibits(work, reference)
    limits = material.role.config.limits
    half = ExhibitLimits(limits.count // 2, limits.characters // 2, limits.pictures // 2, limits.picture_bytes)
    (mine, mine_left), (theirs, theirs_left) = limit_exhibits(work, half), limit_exhibits(reference, half)
    left = [f"(of the work: {said})" for said in mine_left] + [f"(of the reference: {said})" for said in theirs_left]
    meanings = "\n".join(f"{score}: {text}" for score, text in MEANING.items())
    question = "\n\n".join([material.brief, *left, f"Which statement describes the delivered work?\n{meanings}"])
    answer = await asking.ask_about(choice(question, tuple(MEANING), *mine, *theirs, instruction=INSTRUCTION), hidden)
    return Holistic(score=cast("Score", int(str(answer.value))), justification=answer.reason)


COMPLETION = "Which of the two is closer to completing the commissioned work?"
QUALITY = "Which of the two is better overall, as a client would see it?"


async def judge_pairwise(material: JudgeMaterial, asking: JudgeSession) -> Pairwise:
    """Compare two submissions in both orders. If the answers contradict each other, the result is `equal`. Raises
    JudgeError if the judge does not answer, or if the second submission is missing.
    """
    other = material.asked.second
    if other is None:
        raise JudgeError(
            "a pair needs a second submission", cause=Cause.JUDGE_LACKS,
            next="worksample grade EXPERIMENT --protocol pairwise",
        )  # fmt: skip
    first, second = await render_both(material.work(), material.work(other))
    if not first or not second:
        side = (
            PairwiseChoice.EQUAL
            if not first and not second
            else PairwiseChoice.FIRST
            if first
            else PairwiseChoice.SECOND
        )
        return Pairwise(completion=side, quality=side, justification="nothing was delivered")
    hidden = (*hidden_exhibits(first), *hidden_exhibits(second))
    sides, reasons = [], []
    for question in (COMPLETION, QUALITY):
        answer = await asking.ask_about(pair(f"{material.brief}\n\n{question}", first, second), hidden)
        sides.append(PairwiseChoice(str(answer.value)))
        reasons.append(answer.reason)
    return Pairwise(completion=sides[0], quality=sides[1], justification="\n\n".join(reasons))
