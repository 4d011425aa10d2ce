"""Rubrics before a judge: the grade from its answers, and the questions for faults and merits."""

from __future__ import annotations

import pytest

from worksample.grading.judges.protocol_questions import HOLDS, PITFALL, combine_parts, probe_of
from worksample.records import By, Criterion, Importance, PartPayload, SkipReason


def part(name: str, fraction: float | None, points: float = 1.0, *, gate: bool = False) -> PartPayload:
    skip = SkipReason.CANNOT_JUDGE if fraction is None else None
    return PartPayload(name=name, points=points, fraction=fraction, gate=gate, skip=skip)


def test_grade_is_the_share_of_points() -> None:
    grade = combine_parts([part("half", 0.5, 3), part("none", 0.0), part("all", 1.0, 2, gate=True)])
    assert grade.score == pytest.approx(3.5 / 6)
    assert [p.name for p in grade.parts] == ["half", "none", "all"]
    assert (grade.composition, grade.reason) == ("judged", "")


def test_part_without_fraction_earns_no_points() -> None:
    assert combine_parts([part("asked", 1.0, 1), part("unseen", None, 3)]).score == 0.25


def test_failed_gate_gives_zero_and_is_named() -> None:
    grade = combine_parts([part("one", 0.0, gate=True), part("two", None, gate=True), part("rest", 1.0, 8)])
    assert grade.score == 0.0
    assert grade.reason == "not passed: one, two"


@pytest.mark.parametrize(
    ("importance", "asks", "instruction"),
    [
        (Importance.PITFALL, "The fault to look for", PITFALL),
        (Importance.CRITICAL, "The criterion", HOLDS),
        (Importance.OPTIONAL, "The criterion", HOLDS),
    ],
)
def test_judge_is_told_whether_it_looks_for_a_fault(importance: Importance, asks: str, instruction: str) -> None:
    criterion = Criterion(id="one", text="It insults.", importance=importance, by=By.JUDGE)
    probe = probe_of(criterion, "Write.", ())
    assert probe.question == f"Write.\n\n{asks}: It insults."
    assert probe.instruction == instruction
