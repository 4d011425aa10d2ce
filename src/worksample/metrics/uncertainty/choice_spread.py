"""Spread between several choices (models, harnesses) on the same tasks: the range and the standard deviation of their
true rates.

An observed range or deviation is above 0 by chance alone, so resampling would never give 0. The intervals of this
module contain 0 as often as their level says if all choices are equally good.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from worksample.metrics.column_checks import Floats

from .bootstrap import Interval
from .mean_difference import MeanDifferenceTest

_TINY = 1e-15


def range_interval(table: Floats, level: float, alike: float) -> Interval:
    """Return the interval of the highest true rate minus the lowest true rate. `table` has shape (choices, tasks), with
    at least two of each.

    The lower end is the largest certain difference of any pair, corrected for testing all pairs (Bonferroni). The upper
    end is the largest possible difference between the two choices with the highest and the lowest observed rate.
    """
    choices = len(table)
    tail = (1 - level) / 2
    share = tail / (choices * (choices - 1) / 2)
    low = high = 0.0
    for one, two in combinations(range(choices), 2):
        gaps = table[one] - table[two]
        if gaps.sum() < 0:
            gaps = -gaps
        shift = MeanDifferenceTest.of(gaps, alike)
        high = max(high, shift.high(tail))
        # Only a pair that is beyond the bound so far can raise it.
        if shift.middle > low and shift.p_above(low) <= share:
            low = max(low, shift.low(share))
    method = "pairs by Gaffke's bounds, the lower end corrected for all of them"
    return Interval(low, high, level, method)


def chance_variance(table: Floats) -> float:
    """Return the variance of the observed rates that chance alone causes, for choices that were run on the same
    tasks.
    """
    centred = table - table.mean(axis=0)
    return float((centred.var(axis=1, ddof=1) / table.shape[1]).sum() / (len(table) - 1))


def deviation_interval(table: Floats, level: float, around: Interval) -> Interval:
    """Return the interval of the standard deviation between the true rates, by inverting the F test for equal rates.

    The interval contains all deviations whose noncentral F distribution fits the data. The degrees of freedom are Box's
    (1954), for choices whose differences vary unequally over tasks. Along the observed differences, their own chance
    variance is used if it is larger. `around` is the interval of the range. The result is derived from it if no task
    distinguishes the choices.
    """
    choices, tasks = table.shape
    chance = chance_variance(table)
    if chance <= _TINY:
        low, high = around.low or 0.0, around.high or 1.0
        most = math.sqrt((choices // 2) * (choices - choices // 2) / (choices * (choices - 1)))
        return Interval(low / math.sqrt(2 * (choices - 1)), high * most, level, "from the spread's interval")
    covariance = np.cov(table - table.mean(axis=0))
    free = max(1.0, float(np.trace(covariance) ** 2 / (covariance**2).sum()))
    rates = table.mean(axis=1)
    away = rates - rates.mean()
    seen = float(away @ away)
    if seen > _TINY:
        chance = max(chance, float(away @ covariance @ away) / seen / tasks)
    ratio = seen / (choices - 1) / chance
    tail = (1 - level) / 2
    beyond = (tasks - 1) * free
    # Rates that lie closer than equal ones do are no evidence that they are equal.
    ends = _noncentral(ratio, free, beyond, 1 - tail), _noncentral(max(ratio, 1.0), free, beyond, tail)
    low, high = (math.sqrt(end * chance / free) for end in ends)
    return Interval(low, high, level, "noncentral F over tasks")


def _noncentral(ratio: float, free: float, beyond: float, below: float) -> float:
    """Return the noncentrality at which this F ratio or a smaller one has the probability `below`. Return 0 if no
    noncentrality gives this probability.
    """
    from scipy.optimize import brentq
    from scipy.special import fdtr, ncfdtr

    if fdtr(free, beyond, ratio) <= below:
        return 0.0
    most = max(1.0, 2 * free * ratio)
    while ncfdtr(free, beyond, most, ratio) > below:
        most *= 2
    return float(brentq(lambda at: ncfdtr(free, beyond, at, ratio) - below, 0.0, most))


def expected_range(choices: int, variance: float) -> float:
    """Return the difference between the highest and the lowest observed rate that is expected by chance if all choices
    are equally good.
    """
    from scipy.special import ndtr

    at = np.linspace(-8, 8, 2001)
    below = ndtr(at)
    return math.sqrt(variance) * float(np.trapezoid(1 - below**choices - (1 - below) ** choices, at))
