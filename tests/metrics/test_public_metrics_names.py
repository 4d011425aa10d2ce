"""Public names of metrics: documented, reachable, not hidden by a module, and cheap to import."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from worksample import metrics

ROOT = Path(metrics.__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "reference/metrics.md"


def test_names_are_sorted_and_resolve():
    assert list(metrics.__all__) == sorted(metrics.__all__)
    for name in metrics.__all__:
        assert getattr(metrics, name).__module__.startswith("worksample.metrics") or name.isupper()
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = metrics.nothing_of_the_kind


def test_no_module_hides_a_name():
    assert not {path.stem for path in ROOT.iterdir()} & set(metrics.__all__)


def test_every_name_is_documented():
    words = set(re.findall(r"\w+", DOCS.read_text()))
    assert sorted(set(metrics.__all__) - words) == []


def test_import_loads_no_library():
    code = "import sys, worksample.metrics; print([m for m in ('numpy', 'polars', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_codes_represent_their_column():
    """A column read once gives the figures that it gives as it stands, also where some rows are left out."""
    task, tier = ["b", "a", "b", "c", "a", "c"], [2, 1, 2, 1, 1, 1]
    score, passed = [1.0, 0.5, None, 0.0, 1.0, 0.25], [True, False, None, False, True, False]
    cost, bundle = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], metrics.Bundle(["c", "b", "a"], [10.0, 20.0, 30.0])
    tasks, tiers = metrics.codes("task", task), metrics.codes("tier", tier)
    assert len(tasks) == 6
    assert tasks.names() == ["b", "a", "c"]
    for one, other in ((task, tasks), (tier, tiers)):
        assert metrics.mean_score(score, task=one) == metrics.mean_score(score, task=other)
        assert metrics.time_horizon([1, 2, 3, 4, 5, 6], passed, task=one) == metrics.time_horizon(
            [1, 2, 3, 4, 5, 6], passed, task=other
        )
    plain, coded = (
        (
            metrics.tier_table(metrics.TrialColumns(score, one), by, how=metrics.Resampling(50)),
            metrics.timeout_table(metrics.TrialColumns(score, one), passed, by),
        )
        for one, by in ((task, tier), (tasks, tiers))
    )
    assert plain == coded
    assert metrics.measure_autoflation(bundle, task, cost, passed) == metrics.measure_autoflation(
        bundle, tasks, cost, passed
    )
    assert metrics.roll_up(score, {"task": task}) == metrics.roll_up(score, {"task": tasks})
