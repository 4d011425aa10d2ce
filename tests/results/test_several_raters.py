"""Several raters of a rubric: criterion by criterion, undecided until enough have answered."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from results.test_resolution_rules import round_of, said
from worksample.metrics import rubric_scores
from worksample.people.judging.answer_validation import grade_of
from worksample.records import (
    Criteria,
    Criterion,
    GradePayload,
    Importance,
    PartPayload,
    Protocol,
    ResolutionRule,
    Round,
    SkipReason,
    Standing,
    Verdict,
)
from worksample.results.verdicts import resolve
from worksample.store.record_rows import row

MARKS: dict[str, dict[str, Any]] = {
    "+": {"fraction": 1.0}, "-": {"fraction": 0.0},
    "n": {"skip": SkipReason.NOT_APPLICABLE}, "?": {"skip": SkipReason.CANNOT_JUDGE},
}  # fmt: skip
KINDS = (Importance.CRITICAL, Importance.IMPORTANT, Importance.OPTIONAL)


def graded(marks: str) -> GradePayload:
    """A rater's marks of a critical, an important and an optional criterion."""
    named = list(zip(marks, KINDS, strict=False))
    criteria = Criteria(criteria=tuple(Criterion(id=k.value, text=k.value, importance=k) for _, k in named))
    return grade_of(criteria, tuple(PartPayload(name=k.value, importance=k, **MARKS[m]) for m, k in named))


def rated(rule: ResolutionRule, overlap: int, *raters: str) -> Verdict:
    round: Round = round_of(rule, overlap).replaced(protocol=Protocol.RUBRIC)
    return resolve(round, [said(graded(marks), n) for n, marks in enumerate(raters)])["s"]


@pytest.mark.parametrize(
    ("rule", "overlap", "raters", "standing", "passed"),
    [
        (ResolutionRule.MAJORITY, 3, ["-++", "-++", "+++"], Standing.DECIDED, False),
        (ResolutionRule.MAJORITY, 3, ["+++", "+++", "---"], Standing.DECIDED, True),
        (ResolutionRule.MAJORITY, 3, ["---"], Standing.UNDECIDED, None),
        (ResolutionRule.MAJORITY, 3, ["---", "---"], Standing.UNDECIDED, None),
        (ResolutionRule.MAJORITY, 3, ["+-+", "-++", "+++"], Standing.DECIDED, True),
        (ResolutionRule.MAJORITY, 2, ["+++", "-++"], Standing.UNDECIDED, None),
        (ResolutionRule.MAJORITY, 3, ["+++", "-++", "n++"], Standing.UNDECIDED, None),
        (ResolutionRule.TIE_BREAK, 2, ["+++"], Standing.UNDECIDED, None),
        (ResolutionRule.TIE_BREAK, 2, ["++-", "++-"], Standing.DECIDED, True),
        (ResolutionRule.TIE_BREAK, 2, ["+++", "-++"], Standing.UNDECIDED, None),
        (ResolutionRule.TIE_BREAK, 2, ["+++", "-++", "-++"], Standing.DECIDED, False),
        (ResolutionRule.TIE_BREAK, 2, ["+++", "-++", "-++", "+++"], Standing.DECIDED, False),
        (ResolutionRule.LATEST, 1, ["---", "---", "+++"], Standing.DECIDED, True),
        (ResolutionRule.MEAN, 2, ["+++", "---"], Standing.DECIDED, None),
        (ResolutionRule.MEAN, 3, ["+++", "---", "-++"], Standing.DECIDED, False),
    ],
)
def test_raters_decide_together(
    rule: ResolutionRule, overlap: int, raters: list[str], standing: Standing, passed: bool | None
) -> None:
    found = rated(rule, overlap, *raters)
    assert (found.standing, found.passed) == (standing, passed)
    assert (found.score is None) == (standing is not Standing.DECIDED)


def test_split_criteria_are_named() -> None:
    assert rated(ResolutionRule.MAJORITY, 2, "+++", "--+").reason == "the raters are split on: critical, important"
    assert rated(ResolutionRule.MAJORITY, 3, "+++", "?++", "?++").reason == "could not be judged: critical"
    assert rated(ResolutionRule.MAJORITY, 3, "+++", "?++", "+++").passed is True


def test_score_uses_agreed_criteria() -> None:
    found = rated(ResolutionRule.MAJORITY, 3, "+-+", "-++", "++-")
    assert (found.score, found.passed, found.grade, len(found.evaluations)) == (1.0, True, None, 3)
    assert rated(ResolutionRule.MAJORITY, 3, "+--", "+--", "++-").score == pytest.approx(1 / 3)


def test_no_applicable_criterion_gives_no_score() -> None:
    """In people's rubric as in the metrics, and in the index."""
    nothing = graded("nnn")
    found = rated(ResolutionRule.LATEST, 1, "nnn")
    assert (found.standing, found.score, found.passed) == (Standing.UNGRADED, None, None)
    assert found.reason == "no criterion applies"
    for rule in (ResolutionRule.MAJORITY, ResolutionRule.MEAN, ResolutionRule.TIE_BREAK):
        assert rated(rule, 2, "nnn", "nnn").standing is Standing.UNGRADED
    marks = rubric_scores(["s"] * 3, [k.value for k in KINDS], ["not_applicable"] * 3)
    assert marks["score"].null_count() == 1
    kept = row(said(nothing), "object")
    assert (kept["score"], kept["full"], kept["partial"]) == (None, None, None)
    programs = resolve(round_of().replaced(protocol=Protocol.PROGRAM), [said(nothing)])["s"]
    assert programs.standing is Standing.UNGRADED


def test_completion_means_passing_the_rubric() -> None:
    """Not full credit: an optional criterion may fail (UpBench 5.2.1)."""
    found = rated(ResolutionRule.LATEST, 1, "++-")
    assert (found.passed, found.score) == (True, pytest.approx(2 / 3))
    table = rubric_scores(pl.Series(["s"] * 3), [k.value for k in KINDS], ["pass", "pass", "fail"])
    assert (found.passed, found.score) == (table["completed"][0], table["score"][0])
