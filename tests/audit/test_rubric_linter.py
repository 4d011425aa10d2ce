"""The rubric linter finds ambiguous criteria, and accepts clear ones (UpBench A.3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.labelled_criteria import HELD_OUT, TUNED
from audit.small_task import changed
from worksample.audit import AuditCheck, AuditConfig, Severity, check
from worksample.audit.rubric_checks import RubricFault, lint

LETTERS = dict(zip("suctwv", RubricFault, strict=True))
RUBRIC = '[grading.rubric]\n\n[[instance]]\nname = "march"'


def score(rows: tuple[tuple[str, str, str], ...]) -> tuple[float, float]:
    """(precision, recall), over kinds of faults."""
    right = wrong = missed = 0
    for _, text, letters in rows:
        wanted, got = {LETTERS[letter] for letter in letters}, {flaw.fault for flaw in lint(text)}
        right += len(wanted & got)
        wrong += len(got - wanted)
        missed += len(wanted - got)
    return right / (right + wrong), right / (right + missed)


@pytest.mark.parametrize(("source", "text", "letters"), [row for row in TUNED if row[0] == "UpBench"])
def test_upbenchs_own_examples_are_found(source: str, text: str, letters: str) -> None:
    assert [flaw.fault for flaw in lint(text)] == [LETTERS[letter] for letter in letters]


def test_most_faults_are_found_and_few_are_false() -> None:
    assert len(TUNED) + len(HELD_OUT) >= 60
    assert score(TUNED) == (1.0, 1.0)
    precision, recall = score(HELD_OUT)
    assert precision >= 0.89 and recall >= 0.77


def test_any_text_can_be_linted() -> None:
    for text in ("", "?", "x" * 5000, "und " * 2000, "'" * 3000, "and " * 3000 + "is", "done by " * 1000):
        lint(text)


def rubric(tmp_path: Path, criteria: str) -> list[str]:
    with_rubric = {"task.toml": ('[[instance]]\nname = "march"', RUBRIC)}
    own = '[[criterion]]\nid = "net"'
    package = changed(tmp_path, {**with_rubric, "criteria.toml": (own, f"{criteria}\n{own}")})
    report = check(package, AuditConfig(static=True, rendering=False))
    told = [f for f in report.findings if f.check is AuditCheck.RUBRIC]
    assert all(f.severity is Severity.WARNING and f.do and f.where == "criteria.toml" for f in told)
    return [f.what for f in told]


def test_task_check_names_the_fault_and_a_correction(tmp_path: Path) -> None:
    bad = (
        '[[criterion]]\nid = "fine"\ntext = "Work is of professional quality"\nimportance = "critical"\nby = "person"\n'
    )
    assert rubric(tmp_path, bad) == [
        "criterion 'fine' is subjective: 'professional quality'",
        "the rubric has 4 criteria, 5 to 20 are usual",
    ]


def test_criteria_of_a_program_are_not_linted(tmp_path: Path) -> None:
    one = '[[criterion]]\nid = "c{n}"\ntext = "Work is of professional quality"\npoints = 1\n'
    assert rubric(tmp_path, "\n".join(one.format(n=n) for n in range(2))) == []
