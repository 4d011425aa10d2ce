"""Paired differences if few tasks differ: claims and their coverage, over whole distributions without sampling."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.uncertainty.mean_difference import MeanDifferenceTest, chance_positive, difference, positive

LEAST = 1e-7
"""Outcomes that are less likely are left out."""


@cache
def shift(tasks: int, gained: int, lost: int) -> MeanDifferenceTest:
    return MeanDifferenceTest.of(np.repeat([1.0, -1.0, 0.0], [gained, lost, tasks - gained - lost]))


def wrong(tasks: int, gain: float, loss: float) -> tuple[float, float]:
    """How often a study claims more than the truth, and less, at one-sided 2.5 %: tasks gain and lose so often."""
    above = below = 0.0
    for gained in range(tasks + 1):
        if (first := stats.binom.pmf(gained, tasks, gain)) < LEAST:
            continue
        for lost in range(tasks - gained + 1):
            chance = first * stats.binom.pmf(lost, tasks - gained, loss / (1 - gain))
            if chance >= LEAST:
                found = shift(tasks, gained, lost)
                above += chance * (found.p_above(gain - loss) <= 0.025)
                below += chance * (found.p_below(gain - loss) <= 0.025)
    return above, below


@pytest.mark.parametrize("tasks", [5, 10, 20, 40])
@pytest.mark.parametrize("losses", [0.3, 1.0, 2.0, 2.9, 3.6])
def test_loser_of_few_tasks_is_called_not_worse_in_one_of_forty(tasks: int, losses: float) -> None:
    """By the pseudo-task of before 12 to 15 % were."""
    above, below = wrong(tasks, 0.0, losses / tasks)
    assert above <= 0.0255
    assert above + below <= 0.05


@pytest.mark.quick("0.5-2.0-20")
@pytest.mark.parametrize("tasks", [20, 40, 322])
@pytest.mark.parametrize(("gains", "losses"), [(0.5, 0.5), (0.5, 2.0), (1.0, 3.0)])
def test_tasks_that_differ_both_ways_are_claimed_in_one_of_forty(tasks: int, gains: float, losses: float) -> None:
    assert max(wrong(tasks, gains / tasks, losses / tasks)) <= 0.0255


@given(st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))))
@settings(deadline=None, max_examples=40)
def test_p_matches_the_sign_test_and_the_interval(study: tuple[int, int, int]) -> None:
    tasks, gained, lost = study[0], min(study[1], study[2]), min(study[2], study[0] - min(study[1], study[2]))
    found = shift(tasks, gained, lost)
    unequal = gained + lost
    exact = min(1.0, 2 * stats.binom.cdf(min(gained, lost), unequal, 0.5)) if unequal else 1.0
    assert found.p == pytest.approx(exact, rel=0.05)
    ends = difference(np.repeat([1.0, -1.0, 0.0], [gained, lost, tasks - unequal]), 0.95)[0]
    assert ends.low is not None
    assert ends.high is not None
    assert (ends.low > 0 or ends.high < 0) == (found.p < 0.05)
    assert ends.low <= (gained - lost) / tasks <= ends.high
    assert (found.ahead > 0.5) == (gained > lost)


@pytest.mark.parametrize("tasks", [5, 40, 322])
def test_no_differing_task_gives_clopper_pearson_ends(tasks: int) -> None:
    one = m.TrialColumns([1.0, 0.0] * tasks, np.arange(2 * tasks))
    found = m.paired_difference(one, one)
    assert found.difference.high == pytest.approx(m.exact(0, 2 * tasks)[1], rel=0.01)
    assert found.difference.low == pytest.approx(-m.exact(0, 2 * tasks)[1], rel=0.01)
    assert found.p == 1.0
    assert found.ahead == 0.5
    claimed = found.not_worse(0.9 * m.exact(0, 2 * tasks)[1]).value
    assert claimed is not None
    assert claimed < 0.975


@pytest.mark.parametrize("margin", [0.0, -0.1, 1.5])
def test_margin_is_a_share(margin: float) -> None:
    one = m.TrialColumns([1.0, 0.0], [1, 2])
    with pytest.raises(UsageError):
        m.paired_difference(one, one).not_worse(margin)


@pytest.mark.parametrize(("loss", "tasks"), [(0.5, 10), (0.5, 40), (1.0, 10), (1.0, 40)])
def test_graded_work_that_loses_few_points_is_covered(loss: float, tasks: int) -> None:
    """Scores of any value; the second loses half its points, or all, on two tasks in the mean: 300 studies."""
    often, held = 2 / tasks, 0
    lost = float(np.minimum(np.random.default_rng(1).beta(2, 2, 50_000), loss).mean())
    for seed in range(300):
        rng = np.random.default_rng([seed, tasks])
        one = rng.beta(2, 2, tasks)
        two = np.where(rng.random(tasks) < often, np.maximum(one - loss, 0.0), one)
        task = np.arange(tasks)
        claimed = (
            m.paired_difference(m.TrialColumns(one, task), m.TrialColumns(two, task)).not_worse(often * lost).value
        )
        held += claimed is not None and claimed < 0.975
    assert held >= 279


def test_lift_of_tasks_with_many_and_few_jobs_is_covered() -> None:
    """One task holds ten jobs, nineteen hold one: what a task's jobs do to the lift, not their sum, is the unit."""
    task = np.concatenate([np.zeros(10, dtype=int), np.arange(1, 20)])
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        gain = rng.choice([0.0, 0.4], 20)[task]
        lift = m.rubric_lifts(np.full(len(task), 0.3), 0.3 + gain, task=task).absolute
        assert lift.low is not None
        assert lift.high is not None
        held += lift.low <= 0.2 <= lift.high
    assert held >= 186


values = st.lists(st.floats(-1, 1).map(lambda v: round(v, 2)), min_size=1, max_size=6, unique=True)


@given(values, st.lists(st.integers(0, 9), min_size=6, max_size=6))
@settings(deadline=None)
def test_one_row_and_many_give_the_same(found: list[float], often: list[int]) -> None:
    value, times = np.array(found), np.array(often[: len(found)], dtype=np.float64)
    if times.sum() > 0:
        assert chance_positive(value, times) == pytest.approx(float(positive(value, times[None, :])[0]), abs=1e-6)


def test_saddlepoint_matches_simulation() -> None:
    rng = np.random.default_rng(0)
    for value, times in (([0.3, -1.0], [7, 1]), ([1.0, -0.5, 0.1], [2, 3, 6]), ([0.05, 0.2, -0.4], [3, 3, 2])):
        drawn = rng.gamma(np.array(times, dtype=float), size=(400_000, len(times))) @ np.array(value)
        told = chance_positive(np.array(value), np.array(times, dtype=float))
        assert told == pytest.approx(float((drawn > 0).mean()), abs=0.004)
    assert math.isclose(chance_positive(np.array([1.0, -1.0]), np.array([4.0, 4.0])), 0.5, abs_tol=1e-9)
