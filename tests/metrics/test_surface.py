"""The public names: all documented, all reachable, none hidden by a module, and importing costs nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from worksample import metrics

ROOT = Path(metrics.__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_names_are_sorted_and_resolve():
    assert list(metrics.__all__) == sorted(metrics.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    for name in metrics.__all__:
        assert getattr(metrics, name).__module__.startswith("worksample.metrics") or name.isupper()
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = metrics.nothing_of_the_kind


def test_no_module_hides_a_name():
    assert not {path.stem for path in ROOT.iterdir()} & set(metrics.__all__)


def test_every_name_is_documented():
    words = set(re.findall(r"\w+", DOCS.read_text()))
    assert sorted(set(metrics.__all__) - words) == []


def test_importing_loads_no_library():
    code = "import sys, worksample.metrics; print([m for m in ('numpy', 'polars', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
