"""Findings of the audit by grading: each planted fault of a grader is found, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from audit.small_task import faulty
from running.profiles import is_quick_run
from running.sharing import once
from worksample.audit import AuditCheck, AuditConfig, Report, Severity, check, check_async
from worksample.tasks import read_package

pytestmark = pytest.mark.box

LOOKED_AT = ("none", "existence", "tolerance", "reference", "unreached")
FAULTS = LOOKED_AT if is_quick_run() else (*LOOKED_AT, "blind", "points", "copied")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One audit of all faults for all processes, graded once each: repeatability has a test of its own."""
    return once(tmp_path_factory, "faulty", lambda place: check(faulty(place, FAULTS), AuditConfig(repeats=1)))


def errors(report: Report, instance: str) -> list[tuple[AuditCheck, str]]:
    found = (f for f in report.errors if f.where.split(":")[0] == instance)
    return [(f.check, f.what) for f in found]


@pytest.mark.long
def test_correct_instance_has_no_findings(report: Report) -> None:
    assert [f for f in report.findings if f.where.split(":")[0] == "none"] == []
    graded = {g.control: g.score for g in report.graded if g.instance == "none"}
    assert graded == {"reference": 1, "nothing": 0, "empty files": 0, "copied inputs": 0, "case wrong": 0}
    assert any("repeatability is unproven" in note for note in report.notes)


@pytest.mark.long
def test_points_for_mere_existence_are_found(report: Report) -> None:
    [(kind, what)] = errors(report, "existence")
    assert (kind, what.split(" (")[0]) == (AuditCheck.EXISTENCE, "empty files scores 0.25, expected 0")


@pytest.mark.thorough(quick="audit/test_findings_by_grading.py::test_points_for_mere_existence_are_found")
@pytest.mark.long
def test_inputs_that_pass_unchanged_are_found(report: Report) -> None:
    assert [what.split(" (")[0] for kind, what in errors(report, "copied") if kind is AuditCheck.EXISTENCE] == [
        "copied inputs scores 1, expected no pass"
    ]


@pytest.mark.long
def test_ignored_tolerance_is_found(report: Report) -> None:
    assert errors(report, "tolerance") == [
        (AuditCheck.TOLERANCE, "bill.json (total) changed within its stated tolerance loses points")
    ]


@pytest.mark.thorough(quick="audit/test_findings_by_grading.py::test_ignored_tolerance_is_found")
@pytest.mark.long
def test_unread_figure_is_found(report: Report) -> None:
    said = [(f.check, f.what) for f in report.findings if f.severity is Severity.WARNING and f.where == "blind"]
    assert said == [
        (AuditCheck.TOLERANCE, "bill.json (vat) changed far beyond its tolerance still gets the full score")
    ]


@pytest.mark.long
def test_missing_reference_graded_as_failure_is_found(report: Report) -> None:
    assert errors(report, "reference") == [(AuditCheck.REFERENCE, "without its reference the grader still gives 0")]


@pytest.mark.thorough(quick="audit/test_findings_by_grading.py::test_unreachable_criterion_is_found")
@pytest.mark.long
def test_points_that_do_not_add_up_are_found(report: Report) -> None:
    assert errors(report, "points") == [(AuditCheck.POINTS, "'note' is worth 1 in criteria.toml and 3 in the grader")]


@pytest.mark.long
def test_unreachable_criterion_is_found(report: Report) -> None:
    found = Counter(kind for kind, _ in errors(report, "unreached"))
    assert found == {AuditCheck.CONTROLS: 1, AuditCheck.COVERAGE: 1}
    assert (AuditCheck.COVERAGE, "no control passes criterion 'note'") in errors(report, "unreached")


def test_varying_score_is_found(tmp_path: Path) -> None:
    package = faulty(tmp_path, ("none",))
    grader = (package.root / "grade.py").read_text()
    chance = 'import os\n    return Grade(score=int.from_bytes(os.urandom(6), "big") / 2**48)\n'
    (package.root / "grade.py").write_text(grader.replace('fault = case.setting("fault", "none")', chance))
    (package.root / "reference" / "none" / "bill.json").write_text('{"total": 300, "vat": 57}')
    found = check(read_package(package.root))
    assert "reference: graded 2 times, with different results" in [f.what for f in found.errors]
    assert {f.check for f in found.errors} >= {AuditCheck.REPEAT, AuditCheck.EXISTENCE, AuditCheck.CONTROLS}


def test_package_without_a_full_score_case_is_found(tmp_path: Path) -> None:
    package = faulty(tmp_path, ("none",))
    for name in ("bill.json", "note.txt"):
        (package.root / "reference" / "none" / name).rename(package.root / "reference" / "none" / f"old-{name}")
    found = check(read_package(package.root), AuditConfig(repeats=1))
    assert (AuditCheck.CONTROLS, "no correct submission is known") in [
        (f.check, f.what.split(":")[0]) for f in found.errors
    ]
    assert {g.control for g in found.graded} == {"nothing", "empty files", "copied inputs", "case wrong"}


@pytest.mark.thorough(quick="audit/test_findings_by_grading.py::test_failed_audit_leaves_no_grading_behind")
def test_progress_names_each_control_once(tmp_path: Path) -> None:
    told: list[str] = []
    found = check(faulty(tmp_path, ("none",)), AuditConfig(repeats=2, on_step=told.append))
    names = [text.rpartition(" (")[0] for text in told]
    assert len(set(names)) == len(names) >= len({g.control for g in found.graded})
    assert [text.rpartition(" (")[2] for text in told] == [f"{n} of {len(told)})" for n in range(1, len(told) + 1)]


async def test_failed_audit_leaves_no_grading_behind(tmp_path: Path) -> None:
    """The first grading is in its box when the second fails; nothing may write into the closed store later."""
    package, told = faulty(tmp_path, ("none",)), []
    before = asyncio.all_tasks()

    def stop(text: str) -> None:
        told.append(text)
        if len(told) == 2:
            raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        await check_async(package, AuditConfig(repeats=1, on_step=stop))
    assert asyncio.all_tasks() == before
    assert len(told) < 5
