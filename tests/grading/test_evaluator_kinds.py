"""Kinds of evaluators of a grading, from its protocol and criteria."""

from __future__ import annotations

import pytest

from worksample.grading.evaluator_kinds import default_evaluator, evaluator_kinds
from worksample.records import By, Criteria, Criterion, EvaluatorKind, Grading, Protocol

PROGRAM, PERSON, JUDGE = By.PROGRAM, By.PERSON, By.JUDGE


@pytest.mark.parametrize(
    ("protocol", "by", "asked"),
    [
        (Protocol.PROGRAM, (), {"program"}), (Protocol.CHECKPOINTS, (), {"program"}),
        (Protocol.RUBRIC, (), {"person"}), (Protocol.HOLISTIC, (), {"person"}), (Protocol.PAIRWISE, (), {"person"}),
        (Protocol.PROGRAM, (PROGRAM, JUDGE), {"program", "judge"}), (Protocol.CHECKPOINTS, (PERSON,), {"person"}),
        (Protocol.RUBRIC, (PROGRAM, PROGRAM), {"person"}), (Protocol.RUBRIC, (PROGRAM, JUDGE), {"program", "judge"}),
        (Protocol.HOLISTIC, (JUDGE,), {"person"}), (Protocol.PAIRWISE, (PROGRAM, JUDGE), {"person"}),
    ],
)  # fmt: skip
def test_kinds_follow_from_protocol_and_criteria(protocol: Protocol, by: tuple[By, ...], asked: set[str]) -> None:
    criteria = Criteria(criteria=tuple(Criterion(id=f"c{n}", text="-", points=1, by=one) for n, one in enumerate(by)))
    assert evaluator_kinds(Grading(protocol=protocol, criteria=criteria, reference="0" * 64, grader="0" * 64)) == asked


def test_judges_are_asked_only_if_named() -> None:
    assert {default_evaluator(protocol) for protocol in Protocol} == {EvaluatorKind.PROGRAM, EvaluatorKind.PERSON}
