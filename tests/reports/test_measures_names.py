"""What `import worksample` offers: sorted, reachable, typed, documented, and free until it is used."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import worksample

DOCS = Path(__file__).parents[2] / "docs" / "frames.md"
NAMES = [
    "Comparison",
    "MeasureConfig",
    "Section",
    "SectionRow",
    "Store",
    "WorksampleError",
    "__version__",
    "compare",
    "comparisons_df",
    "evaluations_df",
    "figures_df",
    "leaderboard",
    "measure",
    "slots_df",
    "submissions_df",
    "trials_df",
    "write_report",
]


def test_the_public_names_are_these() -> None:
    assert worksample.__all__ == NAMES == sorted(NAMES)
    assert set(NAMES) <= set(dir(worksample))
    for name in NAMES:
        assert getattr(worksample, name) is not None
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = worksample.nothing_of_the_kind


def test_all_have_a_docstring_and_are_documented() -> None:
    words = set(re.findall(r"\w+", DOCS.read_text()))
    for name in NAMES[:-1]:
        if name != "__version__":
            assert inspect.getdoc(getattr(worksample, name)), name
            assert name in words, name


def test_importing_does_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import worksample; "
        "new = set(sys.modules) - before; "
        "print(sorted(m for m in new if m.split('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['worksample', 'worksample.lazy']"
