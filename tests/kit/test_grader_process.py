"""`python -m worksample.kit` end to end: a grader's actions and their results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from worksample.records import Criteria, Criterion, GradePayload

HEAD = "from worksample.kit import *\n"


def run(folder: Path, code: str, criteria: Criteria | None = None) -> dict:
    for name in ("output", "reference", "grader"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "grader" / "grade.py").write_text(HEAD + code)
    case = {
        "folders": {n: str(folder / n) for n in ("output", "reference", "grader")},
        "criteria": (criteria or Criteria()).plain(),
        "result": str(folder / "result.json"),
    }
    (folder / "case.json").write_text(json.dumps(case))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "worksample.kit", str(folder / "case.json")], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text())


def test_missing_deliverable_fails_its_part_only(tmp_path: Path) -> None:
    code = "def grade(case): return checklist(case, a=lambda: case.text('none.txt') == '', b=lambda: True)"
    grade = GradePayload.model_validate(run(tmp_path, code)["grade"])
    assert grade.score == 0.5
    assert grade.parts[0].reason == "none.txt: is missing"


def test_uncaught_deliverable_error_scores_zero(tmp_path: Path) -> None:
    grade = GradePayload.model_validate(run(tmp_path, "def grade(case): return case.text('none.txt')")["grade"])
    assert grade.score == 0
    assert "none.txt" in grade.reason


@pytest.mark.parametrize(
    ("code", "cause", "says"),
    [
        ("def grade(case): return case.ref_text('none.txt')", "grader.reference", "none.txt"),
        ("def grade(case): 1/0", "grader.crash", "ZeroDivisionError"),
        ("1/0", "grader.crash", "ZeroDivisionError"),
        ("def grade(case: syntax", "grader.crash", "SyntaxError"),
        ("x = 1", "grader.crash", "next: write def grade(case): in grade.py"),
        ("raise SystemExit(0)", "grader.crash", "sys.exit"),
        ("import sys\ndef grade(case): sys.exit(3)", "grader.crash", "sys.exit"),
        ("def grade(case): return grade(case)", "grader.crash", "RecursionError"),
        ("def grade(case): raise MemoryError", "grader.memory", "memory"),
        ("def grade(case): return 1.0", "grader.malformed", "float, not a Grade\n  next: return a Grade"),
        ("def grade(case): return Grade(score=float('nan'))", "grader.malformed", "score"),
        (
            "from worksample.records import GradePayload as Record\n"
            "def grade(case): return Record.model_construct(score=float('nan'), parts=())",
            "grader.malformed",
            "score",
        ),
        (
            "def grade(case):\n    made = Grade(score=1)\n    object.__setattr__(made, 'score', 7)\n    return made",
            "grader.malformed",
            "score",
        ),
        (
            "def grade(case): return Grade(score=1, marks=2)",
            "grader.malformed",
            "grade.py:2: the grade is malformed",
        ),
        ("def grade(case): return Grade()", "grader.malformed", "score: is missing"),
        ("def grade(case): return Grade(score=1.5)", "grader.malformed", "score"),
        ("def grade(case): return read_csv(case.folder('grader') / 'none.py')", "grader.crash", "FileNotFoundError"),
        (
            "def grade(case):\n    (p := case.folder('reference') / 'a.csv').touch()\n    return read_csv(p)",
            "grader.reference",
            "a file of the task: is empty",
        ),
        ("def grade(case): return checklist(case, a=lambda: Check(float('inf')))", "grader.malformed", "inf"),
        ("def grade(case): return checklist(case, a=lambda: None)", "grader.malformed", "NoneType"),
    ],
)
def test_faulty_grader_is_a_typed_failure(tmp_path: Path, code: str, cause: str, says: str) -> None:
    result = run(tmp_path, code)
    assert "grade" not in result
    assert result["failed"] == cause
    assert says in result["reason"]


def test_parts_must_match_the_criteria(tmp_path: Path) -> None:
    criteria = Criteria(criteria=(Criterion(id="a", text="A", points=1), Criterion(id="b", text="B", points=3)))
    stray = run(tmp_path, "def grade(case): return checklist(case, a=True, c=True)", criteria)
    assert stray["failed"] == "grader.malformed"
    by_hand = "def grade(case): return Grade(score=1, parts=(GradePart(name='z', fraction=1),))"
    assert run(tmp_path, by_hand, criteria)["failed"] == "grader.malformed"
    good = run(tmp_path, "def grade(case): return weighted(case, a=False, b=True)", criteria)
    assert good["grade"]["score"] == 0.75


def test_modules_beside_the_grader_are_imported(tmp_path: Path) -> None:
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "rules.py").write_text("SHARE = 0.25")
    result = run(tmp_path, "import rules\ndef grade(case): return weighted(case, a=rules.SHARE)")
    assert result["grade"]["score"] == 0.25
