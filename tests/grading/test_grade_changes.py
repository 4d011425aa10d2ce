"""Differences of a regrade in words, part by part."""

from __future__ import annotations

import pytest

from worksample.grading.grade_changes import _differences
from worksample.records import GradePayload, PartPayload, SkipReason, Standing, Verdict

DECIDED, UNGRADED = Standing.DECIDED, Standing.UNGRADED


def part(name: str, fraction: float | None, points: float = 1.0, *parts: PartPayload) -> PartPayload:
    skipped = SkipReason.CANNOT_JUDGE if fraction is None else None
    return PartPayload(name=name, points=points, fraction=fraction, skip=skipped, parts=parts)


def of(score: float | None, *parts: PartPayload, standing: Standing = DECIDED, reason: str = "") -> Verdict:
    grade = GradePayload(score=score or 0.0, parts=parts, reason="so") if parts else None
    return Verdict(subject="s", standing=standing, score=score, grade=grade, reason=reason)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (of(0.5), of(0.5), []),
        (of(0.5), None, ["graded in one round only"]),
        (None, of(0.5), ["graded in one round only"]),
        (of(0.5), of(0.25), ["score 0.5 before, 0.25 now"]),
        (of(1.0), of(None, standing=UNGRADED, reason="it crashed"),
         ["decided before, ungraded now: it crashed", "score 1 before, nothing now"]),
        (of(None, standing=UNGRADED, reason="it crashed"), of(0.0),
         ["ungraded before, decided now: it crashed", "score nothing before, 0 now"]),
        (of(None, standing=UNGRADED), of(None, standing=Standing.UNDECIDED), ["ungraded before, undecided now"]),
        (of(1.0, part("a", 1.0)), of(1.0, part("a", 1.0)), []),
        (of(1.0, part("a", 1.0)), of(1.0, part("b", 1.0)), ["a: is gone", "b: is new"]),
        (of(1.0, part("a", 1.0, 2.0)), of(1.0, part("a", 1.0, 3.0)), ["a: 1 of 2 before, 1 of 3 now"]),
        (of(1.0, part("a", None)), of(1.0, part("a", 0.12345)), ["a: nothing of 1 before, 0.1235 of 1 now"]),
        (of(1.0, part("a", 1.0, 1.0, part("in", 1.0))), of(1.0, part("a", 1.0, 1.0, part("in", 0.0))),
         ["in: 1 of 1 before, 0 of 1 now"]),
        (of(1.0, part("a", 1.0)), of(1.0), []),
    ],
)  # fmt: skip
def test_only_differences_are_listed(before: Verdict | None, after: Verdict | None, said: list[str]) -> None:
    assert _differences(before, after) == said
