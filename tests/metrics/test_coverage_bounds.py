"""Lower bounds of coverage, and the cells in the docs above 97 %."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks.coverage import bounds, corrected_bounds
from benchmarks.coverage.cells import read_rows
from benchmarks.coverage.corrected import CEILING, World, read_cells, worlds
from benchmarks.coverage.figures import SIZES
from benchmarks.coverage.least import Design, least, same_mean

from worksample import metrics as m
from worksample.metrics.calibration.label_sample import LabelKind

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("trials", [5, 10, 40])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_no_exact_interval_covers_less_than_the_bound(trials: int, share: float) -> None:
    ends = [m.exact(successes, trials) for successes in range(trials + 1)]
    chance = [math.comb(trials, s) * share**s * (1 - share) ** (trials - s) for s in range(trials + 1)]
    covers = sum(p for p, (low, high) in zip(chance, ends, strict=True) if low <= share <= high)
    bound = least(Design(trials, (0, 1), (1 - share, share)), 0.95)
    assert bound is not None
    assert 0.95 <= bound <= covers + 1e-6


def closed(tasks: int) -> Iterator[set[tuple[int, int]]]:
    """All sets of (gains, losses) that hold with some data all that lie lower, one after the other."""
    columns = [range(tasks - gains + 2) for gains in range(tasks + 1)]
    for least_losses in itertools.product(*columns):
        found = {(g, b) for g, least in enumerate(least_losses) for b in range(least, tasks - g + 1)}
        if all((g - 1, b) in found for g, b in found if g):
            yield found


def test_program_finds_the_same_as_trying_all_sets() -> None:
    tasks, own = 3, (0.18, 0.64, 0.18)
    family = [*same_mean(np.array([-1.0, 0, 1]), 0.0), np.array(own)]

    def chance(of: set[tuple[int, int]], p: np.ndarray) -> float:
        ways = ((math.comb(tasks, g) * math.comb(tasks - g, b), g, b) for g, b in of)
        return float(sum(w * p[2] ** g * p[0] ** b * p[1] ** (tasks - g - b) for w, g, b in ways))

    for holds in (0.8, 0.93):
        lower = [
            s for s in closed(tasks) if all(g < b for g, b in s) and all(chance(s, p) <= 1 - holds for p in family)
        ]
        pairs = itertools.product(lower, [{(b, g) for g, b in s} for s in lower])
        both = (low | high for low, high in pairs)
        most = max(chance(s, family[-1]) for s in both if all(chance(s, p) <= 1 - holds + 1e-12 for p in family))
        assert least(Design(tasks, (-1, 0, 1), own), holds) == pytest.approx(1 - most, abs=2e-3)


def test_five_tasks_show_no_difference_in_97_of_100_studies() -> None:
    """Whoever tests two equal agents on five tasks finds them equal nearly always, or is wrong too often elsewhere."""
    for repeats in (1, 3):
        design = bounds.paired(0.0, repeats)(5)
        assert design is not None
        found = least(design, 0.93)
        assert found is not None
        assert found > 0.97


def test_docs_list_every_inexact_cell_above_97() -> None:
    listed = {}
    for row, *cells in read_rows(DOCS / "data/coverage-above-97.csv")[1:]:
        listed |= {(row, size): cell for size, cell in zip(SIZES, cells, strict=True) if cell}
    draws, rows = bounds.covered(read_rows(DOCS / "data/coverage.csv"))
    exact = bounds.exact_rows()
    above = {(row, s): c for row, cells in rows.items() if row not in exact for s, c in cells.items() if c > CEILING}
    assert listed.keys() == above.keys()
    for place in [p for p in above if p[0].startswith("paired") or "agreement" in p[0]]:
        assert listed[place] == bounds.said(*place, above[place], draws)


@pytest.mark.parametrize("jobs", [70, 150])
def test_correct_judge_of_rare_passes_is_covered_by_any_interval(jobs: int) -> None:
    world = World(LabelKind.RATE, jobs, 20, 0.03, "right")
    found = corrected_bounds.rate(world, 0.93)
    assert found is not None
    assert found > 0.97


def test_docs_have_the_bound_of_each_calibration_cell() -> None:
    known = {world.row: world for world in worlds()}
    checked = 0
    cells = read_cells(DOCS / "data/calibration-cells.csv")
    assert len(cells) == len(known)
    for row in cells:
        world = known[tuple(row[:5])]
        above = float(row[5]) > CEILING
        bounded = world.agents == 1 and (
            world.kind is LabelKind.RATE or (world.kind, world.judge) == (LabelKind.SCORE, "right")
        )
        assert not row[7] or (above and bounded), row
        if above and bounded and world.judge == "right" and world.jobs == 70:
            checked += 1
            assert row[7:] == [f"{100 * found:.1f}" for found in corrected_bounds.least(world)], row
    assert checked >= 5
