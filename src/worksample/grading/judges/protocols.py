"""A rubric by a judge: a yes/no question for each criterion that is a judge's; code makes the grade of the answers."""

from __future__ import annotations

import math

from worksample.errors import Cause, JudgeError
from worksample.models import Exhibit, Probe, yes_no
from worksample.records import By, Criterion, GradePayload, Importance, PartPayload

from .material import JudgeMaterial, hidden_in
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
