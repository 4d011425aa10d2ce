"""The search for the judge with the lowest coverage of a corrected figure, and the exact intervals it required."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.coverage.corrected import Result, World, read_cells, write_cells
from benchmarks.coverage.worst_judges import Moments, Rates, ends, worst
from scipy.stats import binom

from worksample import metrics as m
from worksample.metrics.calibration.label_sample import CheckedSample
from worksample.metrics.calibration.prediction_powered import Parts
from worksample.metrics.uncertainty.intervals import blaker, exact


@pytest.mark.parametrize("trials", [1, 5, 20, 33])
@pytest.mark.parametrize("level", [0.8, 0.93])
def test_blaker_interval_is_exact_and_within_clopper_pearson(trials: int, level: float) -> None:
    told = np.array([blaker(successes, trials, level) for successes in range(trials + 1)])
    wider = np.array([exact(successes, trials, level) for successes in range(trials + 1)])
    assert (told[:, 0] >= wider[:, 0] - 1e-9).all() and (told[:, 1] <= wider[:, 1] + 1e-9).all()
    assert trials == 1 or (told[:, 1] - told[:, 0]).sum() < (wider[:, 1] - wider[:, 0]).sum() - 0.01
    near = np.concatenate([told.ravel() - 1e-9, told.ravel() + 1e-9, np.linspace(0.001, 0.999, 999)])
    shares = near[(near > 0) & (near < 1)][:, None]
    held = (told[:, 0] <= shares) & (shares <= told[:, 1])
    assert ((binom.pmf(np.arange(trials + 1), trials, shares) * held).sum(axis=1)).min() >= level - 1e-9


def drawn(kind: m.LabelKind, seed: int) -> CheckedSample:
    judge = ("right", "good", "kind", "noisy", "guessing")[seed % 5]
    rate = (0.05, 0.3, 0.8)[seed % 3]
    return World(kind, 70, 20, rate, judge).draw(np.random.default_rng(seed))[0]


@pytest.mark.parametrize("kind", list(m.LabelKind))
def test_batched_ends_match_the_product(kind: m.LabelKind) -> None:
    for seed in range(15):
        data = drawn(kind, seed)
        parts = Parts(data, kind, 0.95)
        tuning = parts.best_lambda()
        value = min(max(parts.value(tuning), 0), 1)
        low, high = parts.interval(tuning)
        shown = max(0.0, min(low, value)), min(1.0, max(high, value))
        pairs, on = np.unique(np.stack([data.people, data.judge])[:, data.has], axis=1, return_counts=True)
        says, off = np.unique(data.judge[~data.has], return_counts=True)
        found = ends(kind, 70, 20, Moments.of(*pairs, on[None].astype(float), says, off[None].astype(float)))
        assert [float(end[0]) for end in found] == pytest.approx(shown, abs=1e-9)


def test_exact_coverage_matches_simulation() -> None:
    world = World(m.LabelKind.RATE, 70, 20, 0.3, "kind")
    held = []
    for seed in range(400):
        data, truth = world.draw(np.random.default_rng(seed))
        parts = Parts(data, m.LabelKind.RATE, 0.95)
        low, high = parts.interval(parts.best_lambda())
        held.append(low <= truth <= high)
    told = float(Rates(70, 20).covers(0.3, np.array([[0.98, 0.25]]))[0])
    # Three standard errors of 400 draws at 96 %.
    assert np.mean(held) == pytest.approx(told, abs=0.03)


@pytest.mark.parametrize("jobs", [70, 300])
def test_worst_judges_of_rates_are_covered_in_93_percent(jobs: int) -> None:
    """One that always says the same was covered in 89 % before the exact ends; one that passes all that people pass and
    half to nine tenths of the rest in 91.1 to 91.9 before a chosen lambda widened the interval."""
    found = Rates(jobs, 20)
    assert found.covers(0.0279, np.array([[1.0, 1.0], [0.0, 0.0]])).min() >= 0.93
    kind = np.array([[1.0, no] for no in (0.35, 0.5, 0.65, 0.702, 0.712, 0.8, 0.9, 0.95)])
    assert min(found.covers(rate, kind).min() for rate in (0.1615, 0.165, 0.17, 0.25, 0.26, 0.32, 0.38, 0.43)) >= 0.93
    assert worst(m.LabelKind.RATE, jobs, 20, 0, np.array([0.03, 0.16])).covers >= 0.93


@pytest.mark.parametrize("kind", [m.LabelKind.PREFERENCE, m.LabelKind.SCORE])
def test_search_over_kinds_runs_on_a_small_grid(kind: m.LabelKind) -> None:
    judges = np.full((2, 6 if kind is m.LabelKind.PREFERENCE else 4), 0.2)
    found = worst(kind, 70, 20, 80, np.array([0.4, 0.5, 0.6]), judges)
    assert 0.8 < found.covers <= 1 and 0.02 <= found.rate <= 0.98


def test_rewritten_cells_keep_their_bounds(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text("figure,jobs,labels\nrate,70,20,0.3,right,98.0,why,97.2,98.1\n")
    at = Result(World(m.LabelKind.RATE, 70, 20, 0.3, "right"), 0.98, 0.9, 0.3, 1.0, 1000)
    other = Result(World(m.LabelKind.RATE, 70, 20, 0.3, "good"), 0.95, 0.9, 0.3, 1.0, 1000)
    write_cells([at, other], file)
    assert [row[7:] for row in read_cells(file)] == [["97.2", "98.1"], ["", ""]]
