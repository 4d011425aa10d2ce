"""Public names for measures: sorted, reachable, typed, documented, and cheap to import."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import worksample

PAGES = [Path(__file__).parents[2] / "docs" / page for page in ("how-to/read-results.md", "how-to/use-from-python.md")]
NAMES = [
    "Assignment",
    "AuditConfig",
    "CalibrationRules",
    "Cause",
    "Change",
    "Checking",
    "Comparison",
    "Estimate",
    "Experiment",
    "GradeOptions",
    "Graded",
    "HandedIn",
    "JudgedBy",
    "Leaderboard",
    "Manifest",
    "MeasureConfig",
    "Package",
    "Part",
    "Picture",
    "Price",
    "Protocol",
    "Record",
    "Regraded",
    "Report",
    "ReportConfig",
    "Resampling",
    "ResumeOptions",
    "RubricRules",
    "Run",
    "RunSettings",
    "Section",
    "SectionRow",
    "Slot",
    "Status",
    "Store",
    "SubmissionFacts",
    "Subset",
    "WorkRules",
    "WorksampleError",
    "Workspace",
    "__version__",
    "check",
    "check_async",
    "compare",
    "comparisons_df",
    "evaluations_df",
    "figures_df",
    "grade",
    "grade_async",
    "leaderboard",
    "measure",
    "open_store",
    "report",
    "report_async",
    "resume",
    "resume_async",
    "run",
    "run_async",
    "slots_df",
    "submissions_df",
    "submit",
    "submit_async",
    "task",
    "trials_df",
    "write_report",
]


def test_public_names_are_the_agreed_ones() -> None:
    assert sorted(worksample.__all__) == dir(worksample) == [name for name in sorted(NAMES) if name != "__version__"]
    for name in NAMES:
        assert getattr(worksample, name) is not None
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = worksample.nothing_of_the_kind


def test_all_have_a_docstring_and_are_documented() -> None:
    words = set(re.findall(r"\w+", " ".join(page.read_text() for page in PAGES)))
    for name in NAMES[:-1]:
        if name != "__version__":
            assert inspect.getdoc(getattr(worksample, name)), name
            assert name.removesuffix("_async") in words, name


def test_import_does_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import worksample; "
        "new = set(sys.modules) - before; "
        "print(sorted(m for m in new if m.split('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['lazy_loader', 'worksample']"
