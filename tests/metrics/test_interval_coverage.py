"""Every interval has a row in the table of coverage; a small grid of it is computed."""

from pathlib import Path

import pytest
from benchmarks.coverage import figures
from benchmarks.coverage.cells import read_rows
from benchmarks.coverage.hard_worlds import HARD

from worksample import metrics as m

DOCS = Path(__file__).parents[2] / "docs"
WITHOUT = {
    "apply_by", "attempts_frame", "ballot_verdicts", "break_even", "break_even_success", "call_costs",
    "ceiling_bound", "check_connectivity", "checkpoint_scores", "codes", "compare_tables", "count_states",
    "decide_by_value", "detectable", "exact", "exact_upper", "fisher", "frontier", "histories", "holistic_verdict",
    "holistic_verdicts", "holm", "human_comparisons", "midpoint", "pair_preference", "pair_sums", "pass_at_k_each",
    "pearson_p", "percent", "planned_variances", "plans", "power_of", "project_preferences", "repeat_spread",
    "round_half_up", "rubric_scores", "tabulate", "tasks_needed", "trial_costs", "variance_components", "wilson",
    "win_probability", "with_and_without", "with_correlation",
}  # fmt: skip
"""Functions that make no interval of their own."""
ELSEWHERE = frozenset(n for n in m.__all__ if n.islower() and ".calibration." in getattr(m, n).__module__)
"""Estimates by judges and people: `python -m benchmarks.coverage corrected` fills docs/data/calibration-summary.csv."""
REGIONS = frozenset({"choose_from_jobs"})
"""`python -m benchmarks.coverage feedback` makes docs/data/feedback.csv."""


def test_every_figure_has_a_row():
    functions = {name for name in m.__all__ if name.islower()}
    assert functions - WITHOUT - ELSEWHERE - REGIONS == set(figures.ROWS)
    assert "coverage" in read_rows(DOCS / "data/calibration-summary.csv")[0]
    assert "rescue rate" in {row for _, row, *_ in read_rows(DOCS / "data/feedback.csv")}
    rows = set(figures.run(1, (40,)))
    assert set(figures.ROWS.values()) <= rows
    assert rows - {row for row, *_ in read_rows(DOCS / "data/coverage.csv")} == set()


def test_adverse_worlds_break_interval_assumptions():
    """Tasks of one fate are covered too seldom, their categories as units are not, and bounds hold what was done."""
    found = figures.run(200, (40,), worlds=HARD)
    page = (DOCS / "explanation/uncertainty.md").read_text()
    assert [row for row in found if f"| {row} |" not in page] == []
    covers = {row: cells[40].covers for row, cells in found.items()}
    assert covers["rate, categories share their fate: tasks as units"] < 0.8
    assert covers["rate, categories share their fate: `task` names the category"] > 0.93
    assert covers["... its best and worst case hold what was done"] == 1


@pytest.mark.thorough(quick="metrics/test_interval_coverage.py::test_heavy_tailed_means_are_covered[40]")
@pytest.mark.long(seconds=60)
def test_intervals_cover_the_truth():
    """80 benchmarks of 40 tasks: of 95 % fewer than 86 % are a chance of one in two thousand a row."""
    found = figures.run(80, (40,))
    given = {row: cells[40] for row, cells in found.items() if cells[40].none < cells[40].seeds}
    low = {row: cell.covers for row, cell in given.items() if cell.covers < 0.86}
    assert low == {}


@pytest.mark.quick("40")
@pytest.mark.parametrize("tasks", [5, 10, 40])
def test_heavy_tailed_means_are_covered(tasks):
    """Log-normal costs, whose few tasks seldom show the dear ones: 91 % without a task more than seen."""
    for row, cells in figures.run(600, (tasks,), "amounts").items():
        assert 0.93 <= cells[tasks].covers < 0.999, row


@pytest.mark.thorough(quick="metrics/test_interval_coverage.py::test_every_figure_has_a_row")
def test_interrupted_coverage_run_continues(tmp_path):
    """A torn line is made again, what other code made does not count, and the table is that of one run."""
    from benchmarks.coverage import cells
    from benchmarks.coverage.worlds import pairs, votes

    path, worlds = tmp_path / "kept.jsonl", [(0, votes), (1, pairs)]
    whole = cells.run(worlds, 60, (5,))
    cells.run(worlds, 50, (5,), cells.Kept(path))
    kept = path.read_bytes()
    assert kept.count(b"\n") == 2
    path.write_bytes(kept[:-20])
    again = cells.Kept(path)
    assert len(again.done) == 1
    assert cells.run(worlds, 60, (5,), again) == whole
    assert path.read_bytes().count(b"\n") == 4
    path.write_bytes(path.read_bytes().replace(b'"probe": "', b'"probe": "x'))
    assert cells.run(worlds, 60, (5,), cells.Kept(path)) == whole
    assert path.read_bytes().count(b"\n") == 8
