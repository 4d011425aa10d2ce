"""Intervals by formula: Wilson's and exact intervals for counts, Fisher's for correlations, and percentiles of
resamples.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Floats

RateInterval = Literal["wilson", "exact"]


def check_level(level: float) -> float:
    """Return the confidence level unchanged. Raises UsageError unless it lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise UsageError(f"the confidence level {level} is out of range", next="pass one between 0 and 1, such as 0.95")
    return level


def normal_quantile(probability: float) -> float:
    """Return the quantile z of the standard normal distribution with P(Z <= z) = probability."""
    return NormalDist().inv_cdf(probability)


def _check(successes: int, trials: int, level: float) -> None:
    check_level(level)
    if not 0 <= successes <= trials or trials < 1:
        raise UsageError(
            f"{successes} successes in {trials} trials is impossible", next="pass 0 <= successes <= trials, trials >= 1"
        )


def wilson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval for a share of independent trials."""
    _check(successes, trials, level)
    z2 = normal_quantile((1 + level) / 2) ** 2
    share = successes / trials
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return low, high


def exact(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for a share of independent trials. Its coverage is at least `level` for
    every true share.
    """
    _check(successes, trials, level)
    tail = (1 + level) / 2
    low = 1 - exact_upper(trials - successes, trials, tail)
    return (0.0 if successes == 0 else low), exact_upper(successes, trials, tail)


def blaker(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return Blaker's interval (2000) for a share of independent trials.

    It is exact like Clopper and Pearson's interval, and never wider: error probability that discrete counts leave
    unused in one tail is given to the other tail. The search for the ends rounds outwards.
    """
    _check(successes, trials, level)
    tail = 1 - level
    return _blaker_low(successes, trials, tail), 1 - _blaker_low(trials - successes, trials, tail)


_STEPS = 400


def _blaker_low(successes: int, trials: int, tail: float) -> float:
    """Return the lower end of Blaker's interval: the smallest share at which results at least as extreme as
    `successes`, on either side, have a probability of at least `tail`.
    """
    from scipy.special import bdtr, bdtrik, betainc, betaincinv

    if successes == 0:
        return 0.0
    first, last = (float(betaincinv(successes, trials - successes + 1, part)) for part in (tail / 2, tail))
    shares = np.linspace(first, last, _STEPS)
    here = betainc(successes, trials - successes + 1, shares)
    # The number of successes in the other tail that is no more probable; none below 0.
    other = np.floor(np.nan_to_num(bdtrik(here, trials, shares)) + 1e-9)
    there = np.where(other >= 0, bdtr(np.maximum(other, 0), trials, shares), 0.0)
    there[there > here * (1 + 1e-9)] = 0.0
    inside = np.flatnonzero(here + there > tail)
    return float(shares[max(int(inside[0]) - 1, 0)]) if len(inside) else last


def exact_upper(successes: int, trials: int, level: float = 0.95) -> float:
    """Return the one-sided exact upper bound of a share. For no successes it is 1 - (1 - level) ** (1 / trials), such
    as 5.8 % for 0 of 50 (RLI B.5).
    """
    from scipy.special import betaincinv

    _check(successes, trials, level)
    if successes == trials:
        return 1.0
    if successes == 0:
        return float(-math.expm1(math.log1p(-level) / trials))
    return float(betaincinv(successes + 1, trials - successes, level))


def rate_interval(successes: int, trials: int, level: float, method: RateInterval) -> tuple[float, float]:
    """Return the interval of a share of independent trials by the method with this name."""
    if method == "wilson":
        return wilson(successes, trials, level)
    if method == "exact":
        return exact(successes, trials, level)
    raise UsageError(f"no interval is called {method!r}", next='pass "wilson" or "exact"')


def fisher(r: float, pairs: int, level: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of a Pearson correlation by Fisher's transformation.

    Return None for fewer than four pairs, and for pairs that lie exactly on a line, since the interval would have no
    width.
    """
    check_level(level)
    if pairs < 4 or math.isclose(abs(r), 1.0, rel_tol=1e-12):
        return None
    half = normal_quantile((1 + level) / 2) / math.sqrt(pairs - 3)
    middle = math.atanh(r)
    return math.tanh(middle - half), math.tanh(middle + half)


def expanded_level(level: float, units: int) -> float:
    """Return the level at which the percentiles of a bootstrap over this many units cover the true value with
    probability `level`.

    The level is raised to account for Student's quantile and for the variance that resampling leaves out (Hesterberg
    2015, 3.5).
    """
    from scipy.special import ndtr, stdtrit

    if units < 2:
        return level
    z = math.sqrt(units / (units - 1)) * float(stdtrit(units - 1, (1 + check_level(level)) / 2))
    return min(float(2 * ndtr(z) - 1), 0.999999)


def percentiles(replicates: Floats, level: float, *, lost: int = 0) -> tuple[float | None, float | None]:
    """Return the two percentiles that enclose the central part `level` of resampled values.

    `lost` is the number of resamples without a value. They count as lying beyond both ends. An end that they could
    reach is None; it is never computed from the remaining values alone. NaN among `replicates` counts as lost; an
    infinite value counts on its own side.
    """
    kept = replicates[~np.isnan(replicates)]
    lost += len(replicates) - len(kept)
    if not len(kept):
        return None, None
    tail = (1 - check_level(level)) / 2
    low = _quantile(np.concatenate([np.full(lost, -np.inf), kept]), tail)
    high = _quantile(np.concatenate([kept, np.full(lost, np.inf)]), 1 - tail)
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)


def _quantile(values: Floats, probability: float) -> float:
    """Return a linearly interpolated quantile of values that may be infinite. Ordinary interpolation would give NaN for
    them.
    """
    if np.isfinite(values).all():
        return float(np.quantile(values, probability))
    ordered = np.sort(values)
    place = probability * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    if below == above or place == math.floor(place):
        return float(below)
    if math.isinf(below) or math.isinf(above):
        return float(below if math.isinf(below) else above)
    return float(below + (above - below) * (place - math.floor(place)))
