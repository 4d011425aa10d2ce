"""Expected power: how often the test of `paired_difference` would find a difference, computed before a study is run.

For agents that pass or fail, each task's chance of passing is drawn from a beta distribution. The difference of two
agents on a task, averaged over trials, then takes only a few values with known probabilities. If many tasks differ
between the agents, the power comes from the normal approximation. If few tasks differ, the power comes from simulated
studies that are drawn from these probabilities and tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from worksample.metrics.column_checks import Floats
from worksample.metrics.uncertainty.intervals import normal_quantile
from worksample.metrics.uncertainty.mean_difference import MeanDifferenceTest, p_of
from worksample.metrics.uncertainty.unit_intervals import student

_NODES = 200
_STUDIES, _GRADED = 2500, 1000
"""Number of simulated studies for one power: of pass or fail, and of graded work. The powers are accurate to 1 and to
1.5 percentage points.
"""
_MANY = 150
"""Number of tasks with a difference between the agents from which the normal approximation is accurate to one
percentage point.
"""


@dataclass(frozen=True, slots=True)
class TaskVariance:
    """Variances that determine how much two agents differ on one task.

    `between` is the variance between tasks, `within` the variance of a mean over `trials` trials of a task, and `whole`
    the total variance of a single trial. `shared` is the correlation of the two agents' difficulties. `alike` says how
    close scores are to all or nothing; 1 means that all are 0 or 1.
    """

    between: float
    within: float
    whole: float
    trials: int
    shared: float
    alike: float

    @property
    def variance(self) -> float:
        """Variance of the difference between the two agents on one task."""
        return 2 * ((1 - self.shared) * self.between + self.within)


@dataclass(frozen=True, slots=True)
class DifferenceValues:
    """Possible values of the difference between two agents on one task, and the probability of each value."""

    value: Floats
    chance: Floats


def chance_to_find(work: TaskVariance, tasks: int, points: float, level: float) -> float:
    """Return the probability that a study of `tasks` tasks (two or more) detects a true difference of `points`."""
    tail = (1 - level) / 2
    if work.alike < 1 or work.whole <= 0:
        if work.variance <= 1e-12:
            return float(
                MeanDifferenceTest(np.array([points]), np.array([float(tasks)]), points, whole=False).p <= 1 - level
            )
        if tasks >= _MANY:
            far = student(level, tasks - 1)
            return _in_the_limit(work.variance, points, math.sqrt(work.alike), (tasks, far))
        return _power_of_graded(work, points, tasks, tail)
    gaps = difference_values(work, points)
    mean = float(gaps.chance @ gaps.value)
    if tasks * (1 - float(gaps.chance[work.trials])) >= _MANY:
        variance = float(gaps.chance @ gaps.value**2) - mean**2
        return _in_the_limit(variance, mean, 1.0, (tasks, normal_quantile(1 - tail)))
    times = np.random.default_rng(0).multinomial(tasks, gaps.chance, size=_STUDIES)
    # Studies with equal outcomes are tested once.
    alike, many = np.unique(times, axis=0, return_counts=True)
    side = np.where(alike @ gaps.value < 0, -1.0, 1.0)
    p = p_of(-side[:, None] * gaps.value, alike.astype(np.float64), 1.0)
    return float((p <= tail) @ many) / _STUDIES


def most_points(work: TaskVariance) -> float:
    """Return the largest possible difference between two agents. The pass rate of the first agent follows from the
    variances.
    """
    return 1 - rate_of(work) if work.alike >= 1 and work.whole > 0 else 1.0


def rate_of(work: TaskVariance) -> float:
    """Return the pass rate that has the variance `work.whole`.

    Two rates have this variance, and the one below one half is returned. Results for the other rate are the same with
    passes and failures exchanged.
    """
    return (1 - math.sqrt(max(0.0, 1 - 4 * work.whole))) / 2


def difference_values(work: TaskVariance, points: float) -> DifferenceValues:
    """Return the possible differences on one task between two agents, with their probabilities.

    The first agent's pass rate follows from the variances; the second agent's rate is higher by `points`.
    """
    trials, first = work.trials, rate_of(work)
    second = min(first + points, 1.0)
    # The variance between tasks that gives the mean over trials with a common chance its variance.
    of_task = work.between + work.within
    between = work.between if trials == 1 else (of_task - work.whole / trials) / (1 - 1 / trials)
    part = min(1.0, max(0.0, between / max(first * (1 - first), 1e-12)))
    one, two = (_passes(_chances(rate, part), trials) for rate in (first, second))
    together = one.T @ two / _NODES
    apart = np.outer(one.mean(axis=0), two.mean(axis=0))
    shared = min(1.0, max(0.0, work.shared))
    both = shared * together + (1 - shared) * apart
    value = np.arange(-trials, trials + 1)
    chance = np.array([np.trace(both, offset=int(gap)) for gap in value])
    return DifferenceValues(value / trials, chance / chance.sum())


def _chances(rate: float, part: float) -> Floats:
    """Return quantiles of the tasks' chances of passing. The chances have the mean `rate`; `part` is the share of the
    variance that lies between tasks.
    """
    from scipy.special import betaincinv

    at = (np.arange(_NODES) + 0.5) / _NODES
    if part < 1e-6 or not 0 < rate < 1:
        return np.full(_NODES, rate)
    if 1 - part < 1e-6:
        return (at > 1 - rate).astype(np.float64)
    size = 1 / part - 1
    return np.asarray(betaincinv(rate * size, (1 - rate) * size, at))


def _passes(chance: Floats, trials: int) -> Floats:
    """Return the probability of each number of passes, as an array of shape (chances, trials + 1)."""
    many = np.arange(trials + 1)
    ways = np.array([math.comb(trials, int(k)) for k in many], dtype=np.float64)
    return np.asarray(ways * chance[:, None] ** many * (1 - chance[:, None]) ** (trials - many))


def _power_of_graded(work: TaskVariance, points: float, tasks: int, tail: float) -> float:
    """Return the power of studies of graded work. The agents' differences on tasks are drawn from a normal
    distribution.
    """
    gaps = np.random.default_rng(0).normal(points, math.sqrt(work.variance), (_GRADED, tasks))
    reach = np.maximum(math.sqrt(work.alike), np.abs(gaps).max(axis=1))
    p = p_of(-np.where(gaps.sum(axis=1) < 0, -1.0, 1.0)[:, None] * gaps, np.ones_like(gaps), reach)
    far = student(1 - 2 * tail, tasks - 1) * gaps.std(axis=1, ddof=1) / math.sqrt(tasks)
    return float(((p <= tail) & (np.abs(gaps.mean(axis=1)) >= far)).mean())


def _in_the_limit(variance: float, points: float, reach: float, study: tuple[int, float]) -> float:
    """Return the power for a study whose sum of differences is normally distributed.

    As in the test itself, one additional task differs against the claim. The estimated standard error is treated as
    uncertain.
    """
    tasks, quantile = study
    spread = math.sqrt(tasks * variance)
    # The error under no difference includes the difference itself.
    null = math.sqrt(tasks * (variance + points**2 / 2) + reach**2)
    far, shift = (quantile * null + reach) / spread, tasks * points / spread
    scale = math.sqrt(2 * (1 + far**2 / (2 * max(tasks - 1, 1))))
    return 0.5 * math.erfc((far - shift) / scale) + 0.5 * math.erfc((far + shift) / scale)
