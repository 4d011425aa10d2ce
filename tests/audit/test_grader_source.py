"""Graders that cannot run are reported once, with file and line; an unread deliverable is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.small_task import GRADER, faulty
from worksample.audit import AuditCheck, AuditConfig, check
from worksample.tasks import read_package

STATIC = AuditConfig(static=True, rendering=False)


def test_syntax_error_has_file_and_line(tmp_path: Path) -> None:
    folder = faulty(tmp_path, ("none", "blind")).root
    line = next(n for n, text in enumerate(GRADER.lstrip().splitlines(), start=1) if "right = case" in text)
    (folder / "grade.py").write_text(GRADER.lstrip().replace("right = case", "right = = case"))
    for config in (STATIC, AuditConfig(rendering=False)):
        report = check(read_package(folder), config)
        [found] = [f for f in report.errors if f.check is AuditCheck.CONTROLS]
        assert found.where == f"grade.py:{line}"
        assert "is not valid Python: invalid syntax" in found.what
        assert report.graded == ()


@pytest.mark.box
def test_crash_of_the_grader_is_reported_once_with_its_line(tmp_path: Path) -> None:
    folder = faulty(tmp_path, ("none",)).root
    (folder / "grade.py").write_text(GRADER.lstrip().replace("    right =", '    {}["x"]\n    right ='))
    line = next(
        n for n, text in enumerate((folder / "grade.py").read_text().splitlines(), start=1) if '{}["x"]' in text
    )
    report = check(read_package(folder), AuditConfig(repeats=1, rendering=False))
    [found] = [f for f in report.errors if "ungraded" in f.what]
    assert f"5 controls are ungraded: grade.py:{line}: KeyError: 'x'" in found.what


@pytest.mark.box
def test_unread_required_deliverable_is_an_error(tmp_path: Path) -> None:
    folder = faulty(tmp_path, ("none",)).root
    manifest = (folder / "task.toml").read_text()
    more = '"plan.md" = { format = "md", required = true }\n"note.txt"'
    (folder / "task.toml").write_text(manifest.replace('"note.txt"', more, 1))
    brief = folder / "brief.md"
    brief.write_text(brief.read_text() + "- `plan.md`: what comes next\n")
    report = check(read_package(folder), AuditConfig(repeats=1, rendering=False))
    [found] = [f for f in report.errors if "plan.md" in f.what]
    assert "no correct submission contains the required deliverable" in found.what
