"""How often the test of `paired_difference` would find a difference: studies foreseen before any is run.

Agents that pass or fail have, on a task, chances of a beta distribution; the difference of their means over its trials
takes few values, whose probabilities follow. Where many tasks differ the test's chance is that of a normal difference
over its standard error; where few do, studies are drawn from those probabilities and tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from worksample.metrics.columns import Floats, Ints
from worksample.metrics.uncertainty.units import student

_NODES = 200
_STUDIES = 5000
"""Drawn for one answer: it is good to half a point."""
_MANY = 150
"""From so many tasks on that differ the normal limit holds within a point."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a task contributes: variances of the agents' difference, between tasks and of the mean over its `trials`,
    and of a single trial in all; `shared`: the part of difficulty that both agents have in common; `alike`: how far
    trials are all or nothing.
    """

    between: float
    within: float
    whole: float
    trials: int
    shared: float
    alike: float

    @property
    def variance(self) -> float:
        """Of one task's difference."""
        return 2 * ((1 - self.shared) * self.between + self.within)


@dataclass(frozen=True, slots=True)
class Gaps:
    """What one task's difference can be: values, and how likely each is."""

    value: Floats
    chance: Floats


def found(work: Work, tasks: int, points: float, level: float) -> float:
    """The chance that a study of so many tasks (two or more) finds a true difference of `points`."""
    if work.alike < 1 or work.whole <= 0:
        alike = work.alike if work.whole > 0 else 0.0
        if tasks >= _MANY or work.variance <= 1e-12:
            return _in_the_limit(work.variance, points, 1.0, (tasks, level, alike))
        return _normal(work.variance, points, tasks, level, alike)
    gaps = gaps_of(work, points)
    differ = 1 - float(gaps.chance[len(gaps.value) // 2])
    mean = float(gaps.chance @ gaps.value)
    variance = float(gaps.chance @ gaps.value**2) - mean**2
    if tasks * differ >= _MANY:
        return _in_the_limit(variance, mean, differ, (tasks, level, 1.0))
    return _drawn(gaps, tasks, level)


def gaps_of(work: Work, points: float) -> Gaps:
    """Of agents whose rates lie around the one that the variances tell, `points` apart."""
    trials = work.trials
    middle = (1 - math.sqrt(max(0.0, 1 - 4 * work.whole))) / 2
    first = min(max(middle - points / 2, 0.0), 1 - points)
    # Of trials that share a chance, that part of their variance which gives the mean over them its own.
    of_task = work.between + work.within
    between = work.between if trials == 1 else (of_task - work.whole / trials) / (1 - 1 / trials)
    part = min(1.0, max(0.0, between / max(middle * (1 - middle), 1e-12)))
    one, two = (_passes(_chances(rate, part), trials) for rate in (first, first + points))
    together = one.T @ two / _NODES
    apart = np.outer(one.mean(axis=0), two.mean(axis=0))
    shared = min(1.0, max(0.0, work.shared))
    both = shared * together + (1 - shared) * apart
    value = np.arange(-trials, trials + 1)
    chance = np.array([np.trace(both, offset=int(gap)) for gap in value])
    return Gaps(value / trials, chance / chance.sum())


def _chances(rate: float, part: float) -> Floats:
    """Quantiles of tasks' chances around `rate`, of whose variance `part` lies between tasks."""
    from scipy.special import betaincinv

    at = (np.arange(_NODES) + 0.5) / _NODES
    if part < 1e-6 or not 0 < rate < 1:
        return np.full(_NODES, rate)
    if 1 - part < 1e-6:
        return (at > 1 - rate).astype(np.float64)
    size = 1 / part - 1
    return np.asarray(betaincinv(rate * size, (1 - rate) * size, at))


def _passes(chance: Floats, trials: int) -> Floats:
    """How likely each number of passes is (chances, trials + 1)."""
    many = np.arange(trials + 1)
    ways = np.array([math.comb(trials, int(k)) for k in many], dtype=np.float64)
    return np.asarray(ways * chance[:, None] ** many * (1 - chance[:, None]) ** (trials - many))


def _drawn(gaps: Gaps, tasks: int, level: float) -> float:
    """Of studies in which each task has one of these gaps."""
    rng = np.random.default_rng(0)
    times = rng.multinomial(tasks, gaps.chance, size=_STUDIES)
    differ = tasks - times[:, len(gaps.value) // 2]
    return _seen(times @ gaps.value, times @ gaps.value**2, differ, (tasks, level, 1.0))


def _normal(variance: float, points: float, tasks: int, level: float, alike: float) -> float:
    """Of studies of graded work, whose gaps are normal."""
    rng = np.random.default_rng(0)
    total = tasks * rng.normal(points, math.sqrt(variance / tasks), _STUDIES)
    squares = variance * rng.chisquare(tasks - 1, _STUDIES) + total**2 / tasks
    return _seen(total, squares, np.full(_STUDIES, tasks), (tasks, level, alike))


def _seen(total: Floats, squares: Floats, differ: Ints, study: tuple[int, float, float]) -> float:
    """The share of studies whose interval leaves 0 out, from the sum of each one's gaps, that of their squares, and how
    many tasks differ: `units.Shift` of all at once.
    """
    tasks, level, alike = study
    whole = tasks + 1
    typical = (alike**2 + squares) / (1 + differ)
    middle = total / whole
    error = np.sqrt(np.maximum((squares + typical) / whole - middle**2, 0.0) / whole)
    return float((np.abs(middle) > student(level, tasks - 1) * error).mean())


def _in_the_limit(variance: float, points: float, differ: float, study: tuple[int, float, float]) -> float:
    """The same where a study's mean is normal: its distance from 0 over an error that is itself uncertain."""
    tasks, level, alike = study
    whole = tasks + 1
    squares = tasks * (variance + points**2)
    typical = (alike**2 + squares) / (1 + tasks * differ)
    middle = tasks * points / whole
    error = math.sqrt(max((squares + typical) / whole - middle**2, 1e-300) / whole)
    far = student(level, tasks - 1) * error
    if variance <= 1e-12:
        return float(middle > far)
    spread = math.sqrt(tasks * variance) / whole
    reach, shift = far / spread, middle / spread
    scale = math.sqrt(2 * (1 + reach**2 / (2 * max(tasks - 1, 1))))
    return 0.5 * math.erfc((reach - shift) / scale) + 0.5 * math.erfc((reach + shift) / scale)
