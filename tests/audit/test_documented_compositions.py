"""Compositions documented in docs/kit.md pass the audit: files in pairs, free names, nested parts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from worksample.audit import AuditCheck, AuditConfig, Report, check
from worksample.audit.point_checks import check_coverage, check_points, match_parts
from worksample.kit import Case, checklist, file_pairs, weighted
from worksample.records import By, Criteria, Criterion, GradePayload, PartPayload
from worksample.tasks import read_package

MANIFEST = """
id = "pairs"
title = "Pairs"
version = "1.0"
canary = "worksample-canary-00000000-0000-4000-8000-000000000000"

[about]
category = "upwork:accounting-consulting/accounting-bookkeeping"
licence = "CC-BY-4.0"
provenance = "Made for a test."

[deliverables]
"a.csv" = { format = "csv" }
"b.csv" = { format = "csv" }

[grading.program]
timeout = 60

[[instance]]
name = "one"
"""
BRIEF = """## Work description

Copy.

## Provided material

Nothing.

## Deliverables

- `a.csv`: n
- `b.csv`: n
"""
CRITERIA = '[[criterion]]\nid = "tables"\ntext = "Both tables are right."\npoints = 4\n'
PAIRS = """
from worksample.kit import Case, Grade, file_pairs, tabular

def grade(case: Case) -> Grade:
    return file_pairs(case, "*.csv", lambda got, want: tabular(got, want))
"""
FREE = """
from worksample.kit import Case, Grade, tabular, weighted

def grade(case: Case) -> Grade:
    names = ("a.csv", "b.csv")
    parts = {n: lambda n=n: tabular(case.output(n), case.reference(n)) for n in names}
    return weighted(case, parts, weights={"a.csv": 1, "b.csv": 3})
"""


def audited(root: Path, grader: str, criteria: str) -> Report:
    folder = root / "pairs"
    for name, text in {"task.toml": MANIFEST, "brief.md": BRIEF, "grade.py": grader, "criteria.toml": criteria}.items():
        folder.mkdir(exist_ok=True)
        if text:
            (folder / name).write_text(text.lstrip())
    for place, n in (("reference", 1), ("cases/wrong/output", 2)):
        (folder / place).mkdir(parents=True)
        for name in ("a.csv", "b.csv"):
            (folder / place / name).write_text(f"n\n{n}\n")
    passes = "passes = { tables = false }\n" if criteria else 'passes = { "a.csv" = false }\n'
    (folder / "cases/wrong/case.toml").write_text(f'about = "x"\ninstance = "one"\nscore = 0\n{passes}')
    return check(read_package(folder), AuditConfig(repeats=1, rendering=False))


@pytest.mark.box
@pytest.mark.long
@pytest.mark.parametrize(("grader", "criteria"), [(PAIRS, CRITERIA), (PAIRS, ""), (FREE, "")])
def test_minimal_package_of_each_has_no_error(tmp_path: Path, grader: str, criteria: str) -> None:
    assert audited(tmp_path, grader, criteria).errors == ()
    shutil.rmtree(tmp_path / "pairs")


TREE = Criteria(
    criteria=(
        Criterion(
            id="report",
            text="r",
            parts=(Criterion(id="sums", text="s", points=2), Criterion(id="names", text="n", points=1)),
        ),
        Criterion(id="memo", text="m", points=1, by=By.PERSON),
        Criterion(id="tables", text="t", points=1),
    )
)


def said(grade: GradePayload) -> list[str]:
    return [f.what for f in check_points(TREE, [("reference", grade)], "x")]


def test_criteria_are_answered_by_their_own_part_or_a_parent(tmp_path: Path) -> None:
    for side in ("output", "reference"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.csv").write_text("n\n1\n")
    case = Case({side: tmp_path / side for side in ("output", "reference")}, criteria=TREE)
    pairs = lambda: file_pairs(case, "*.csv", lambda got, want: 1.0)  # noqa: E731
    for grade in (
        weighted(case, report=1, tables=pairs),
        weighted(case, sums=1, names=0, tables=pairs),
        checklist(case, report=lambda: weighted(case, sums=1, names=1), tables=pairs),
    ):
        assert said(grade) == []
        assert set(match_parts(TREE.criteria, grade.parts).parts) == {"report", "sums", "names", "tables"}
    whole = weighted(case, report=1, tables=pairs)
    coverage = [f for f in check_coverage(TREE, [("reference", whole)], "x") if f.check is AuditCheck.COVERAGE]
    assert not [f for f in coverage if f.what.startswith("no control passes")]


def test_missing_unknown_or_reweighted_part_is_an_error() -> None:
    part = PartPayload(name="report", points=2, fraction=1, parts=(PartPayload(name="other", points=2, fraction=1),))
    assert said(GradePayload(score=1, parts=(part,))) == [
        "criterion 'names' is not answered by the grader (reference)",
        "criterion 'sums' is not answered by the grader (reference)",
        "criterion 'tables' is not answered by the grader (reference)",
        "the grader's part 'other' is not a criterion",
        "'report' is worth 3 in criteria.toml and 2 in the grader",
    ]
