"""Intervals of figures from independent units, such as tasks: the same method for all shares and another for all
amounts, regardless of the levels below a unit.

Differences between two agents have a separate test (`mean_difference`).
"""

from __future__ import annotations

import math

import numpy as np

from worksample.metrics.column_checks import Floats, Ints
from worksample.metrics.counts import with_noun

from .bootstrap import Interval
from .intervals import check_level

ONE_UNIT = "one task: no interval"
FEWEST_AMOUNTS = 5
"""Minimum number of amounts for an interval. For fewer amounts, which are skewed, no known method covers the true mean
reliably.
"""
_TINY = 1e-12


def student(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 0.5), (1 + check_level(level)) / 2))


def zero_or_one(values: Floats) -> float:
    """Return the degree to which scores in 0..1 are all or nothing: the variance of the scores divided by the variance
    that scores of only 0 and 1 with the same mean would have.
    """
    return alike(float(values.mean()), float(values @ values) / len(values))


def alike(mean: float, square: float) -> float:
    """Return `zero_or_one` of scores that have the mean `mean` and whose squares have the mean `square`."""
    most = mean * (1 - mean)
    return 1.0 if most <= _TINY else min(1.0, max(0.0, square - mean * mean) / most)


def share(values: Floats, level: float, *, alike: float = 1.0) -> tuple[Interval, str]:
    """Return the interval of the mean of the units' shares, each in 0..1, and a note.

    The interval is Clopper and Pearson's at the effective number of units (Korn and Graubard 1998). That number is
    computed from the variance between units, combined with the variance of one additional all-or-nothing unit. Without
    this addition, a single failure would narrow the interval of a perfect record. `alike` is `zero_or_one` of the
    trials below the units. If all units are 0 or 1, the interval is exactly Clopper and Pearson's.
    """
    size = len(values)
    if size < 2 and values[0] not in (0.0, 1.0):
        return Interval(), ONE_UNIT
    apart = values - (value := float(values.mean()))
    return _effective(value, float(apart @ apart), (size, 1.0), level, alike)


def share_of_sums(
    part: Floats, whole: Floats, level: float, *, alike: float = 1.0, times: Ints | None = None
) -> tuple[Interval, str]:
    """Return the interval of the sum of `part` divided by the sum of `whole` (dollars, runs, pairs of votes), and a
    note. Both have one row per unit.

    A unit's weight is its part of the whole sum. Units with a whole of 0 are left out. `times` is the number of equal
    units that each row stands for.
    """
    if not (some := whole > 0).all():
        part, whole, times = part[some], whole[some], None if times is None else times[some]
    size = len(whole) if times is None else int(times.sum())
    if size < 2:
        return Interval(), ONE_UNIT
    parts, wholes = (part, whole) if times is None else (times * part, times * whole)
    total = float(wholes.sum())
    value = float(parts.sum()) / total
    # A unit that outweighs the rest pulls the mean to itself: how far it lies from the mean of the others counts.
    pull = part - value * whole
    others = total - whole
    pull /= np.maximum(others, _TINY * total, out=others)
    spread = (size - 1) ** 2 * float((pull if times is None else times * pull) @ pull)
    ends, note = _effective(value, spread, (size, size * float(wholes @ whole) / total**2), level, alike)
    return _allow_for_large_unit(
        ends, part / whole, whole, value, np.ones(len(whole)) if times is None else times
    ), note


_LARGER = 1.5


def _allow_for_large_unit(
    ends: Interval, shares: Floats, whole: Floats, value: float, times: Floats | Ints
) -> Interval:
    """Return the interval, widened at one end if large units have higher (or lower) shares than small units.

    The widened end allows for one additional unit, half as large again as the largest observed unit. The amount depends
    on how strongly the shares of units are related to their size. A sample seldom contains enough large units, so an
    end computed from observed units alone would be too close.
    """
    from scipy.special import ndtr

    if ends.low is None or ends.high is None:
        return ends
    size, total = float(times.sum()), float(times @ whole)
    apart = (whole * size / total - 1) * (shares - float(times @ shares) / size)
    error = math.sqrt(float(times @ apart**2))
    if error <= _TINY:
        return ends
    sure = 2 * float(ndtr(float(times @ apart) / error)) - 1
    larger = _LARGER * float(whole.max())
    reach = sure * larger / (total + larger)
    if reach > 0:
        return ends._replace(high=min(1.0, ends.high + reach * (1 - value)))
    return ends._replace(low=max(0.0, ends.low + reach * value))


def stratified_share(
    value: float, variance: float, weight: Floats, level: float, *, alike: float = 1.0
) -> tuple[Interval, str]:
    """Return the interval of a weighted mean of the units' shares, and a note. The weights are fixed and add up to 1;
    `variance` is the variance of the weighted mean.
    """
    size = len(weight)
    if size < 2:
        return Interval(), ONE_UNIT
    return _effective(value, variance * size**2, (size, float((weight * weight).sum()) * size), level, alike)


def _effective(
    value: float, spread: float, units: tuple[int, float], level: float, alike: float
) -> tuple[Interval, str]:
    size, uneven = units
    error = math.sqrt(spread / max(size - 1, 1) / size) if spread > _TINY else None
    value = min(max(value, 0.0), 1.0)
    most = size * value * (1 - value)
    note = ""
    if spread <= _TINY:
        alike = 1.0
        if most <= _TINY:
            note = "every trial scored the same: exact interval with tasks as independent trials"
        else:
            note = "every task scored the same: the interval allows for one that scores 0 or 1"
    equal = 1.0 if most <= _TINY else min(1.0, spread / (most * uneven))
    # Bernoulli units need no small-sample factor: their variance follows from the mean.
    spread *= 1 + max(1 - equal, 1 - 1 / uneven) / max(size - 1, 1)
    pseudo = alike * uneven
    effect = (spread / uneven + pseudo) / (most + pseudo)
    kish = size / uneven
    count = max(kish / max(effect, _TINY), 1.0)
    if count > kish * (1 + 1e-9):
        count = 1 + (count - 1) * (student(level, count - 1) / student(level, max(kish - 1, 1.0))) ** 2
    method = "exact" if math.isclose(count, size) else f"beta at {count:.4g} effective tasks"
    return Interval(*_beta(value * count, count, level), level, method, error), note


def of_count(value: float, count: float, level: float) -> Interval:
    """Return Clopper and Pearson's interval for a share that is as uncertain as a share of `count` independent
    trials.
    """
    count = max(count, 1.0)
    return Interval(*_beta(value * count, count, level), level, f"beta at {count:.4g} effective jobs")


def _beta(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Return the ends of Clopper and Pearson's interval for numbers of successes and trials that may be fractional."""
    from scipy.special import betaincinv

    tail = (1 - check_level(level)) / 2
    missed = trials - successes
    low = 0.0 if successes <= _TINY else float(betaincinv(successes, missed + 1, tail))
    high = 1.0 if missed <= _TINY else float(betaincinv(successes + 1, missed, 1 - tail))
    return low, high


def amounts(values: Floats, level: float) -> tuple[Interval, str]:
    """Return the interval of the mean of the units' amounts (US dollars, seconds, tokens), and a note. Amounts are 0 or
    more and skewed to the right.

    The interval is the wider of two: by Hall's transformation (1992), which removes the skewness, and by Student's t on
    the logarithm. Its upper end allows for tasks that are more expensive than all observed tasks, as many as could have
    stayed unobserved. This is necessary because a sample seldom contains the most expensive tasks.
    """
    size = len(values)
    if size < FEWEST_AMOUNTS:
        return Interval(), f"{with_noun(size, 'task')}, too few for an interval of amounts: {FEWEST_AMOUNTS} are needed"
    mean = float(values.mean())
    apart = values - mean
    total = float(apart @ apart)
    deviation = math.sqrt(total / (size - 1))
    if deviation <= _TINY * max(abs(mean), 1.0):
        return Interval(), "every task took the same: an interval would have no width"
    error = deviation / math.sqrt(size)
    # A product, since a power of three takes ten times as long.
    skew = float((apart * apart) @ apart) / size / (total / size) ** 1.5
    q = student(level, size - 1) / math.sqrt(size)
    low, high = mean - deviation * _undo_skew(q, skew, size), mean - deviation * _undo_skew(-q, skew, size)
    if float(values.min()) >= 0 and mean > 0:
        stretch = min(q * math.sqrt(size) * error / mean, 300.0)
        low, high = min(max(low, 0.0), mean * math.exp(-stretch)), max(high, mean * math.exp(stretch))
        high += _unseen_share(size, level) * (_unseen_cost(values, deviation / mean) - mean)
    return Interval(min(low, mean), max(high, mean), level, "Hall's transformation over tasks", error), ""


_UNSEEN, _DEARER = 10.0, 1.2


def _unseen_cost(values: Floats, variation: float) -> float:
    """Return the assumed cost of a task that was not observed. It lies further above the largest observed cost if the
    tasks are fewer or more different from each other.

    The formula was fitted with `python -m benchmarks.coverage figures` on Poisson, exponential and log-normal amounts
    of 5 to 322 tasks.
    """
    return _DEARER * float(values.max()) * (1 + _UNSEEN * variation**2 / len(values))


def _undo_skew(at: float, skew: float, size: int) -> float:
    """Return the inverse of Hall's cubic transformation: the studentised mean that the transformation maps to `at`."""
    if abs(skew) < 1e-6:
        return at
    return 3 / skew * (float(np.cbrt(1 + skew * (at - skew / (6 * size)))) - 1)


def ratio_of_sums(above: Floats, below: Floats, level: float) -> tuple[Interval, str]:
    """Return the interval of the sum of one amount divided by the sum of another, and a note. Both have one row per
    unit.

    The interval is that of `amounts`, applied to the effect of each unit on the ratio.
    """
    total = float(below.sum()) / len(below)
    value = float(above.sum() / below.sum())
    return amounts(value + (above - value * below) / total, level)


def fieller(above: Floats, below: Floats, level: float) -> tuple[Interval, str]:
    """Return Fieller's interval (1954) for a ratio of two means that may both be near 0, and a note. An unbounded end
    is None.
    """
    size = len(above)
    if size < 2:
        return Interval(), ONE_UNIT
    q2 = student(level, size - 1) ** 2 / size
    covariance = np.cov(above, below)
    if covariance[0, 0] <= _TINY and covariance[1, 1] <= _TINY:
        return Interval(), "all jobs are equal: an interval would have no width"
    a, b = float(above.mean()), float(below.mean())
    # Values r with (a - r b)^2 <= q2 var(above - r below).
    square = b * b - q2 * covariance[1, 1]
    middle = a * b - q2 * covariance[0, 1]
    constant = a * a - q2 * covariance[0, 0]
    rest = middle**2 - square * constant
    if square <= 0 or rest < 0:
        low = (middle + math.sqrt(rest)) / square if square < 0 <= rest else None
        note = "the successes differ too little: no upper end"
        below_value = low is not None and low <= a / b
        return Interval(low if below_value else None, None, level, "Fieller over jobs"), note
    root = math.sqrt(rest)
    low, high = (middle - root) / square, (middle + root) / square
    # As for amounts: an unobserved unit may lie further out than all observed ones.
    unseen = _unseen_share(size, level)
    if b > 0:
        low, high = low - unseen * (a - float(above.min())) / b, high + unseen * (float(above.max()) - a) / b
    return Interval(low, high, level, "Fieller over jobs"), ""


def _unseen_share(size: int, level: float) -> float:
    """Return the largest share of tasks that could have stayed unobserved by chance: Clopper and Pearson's upper end
    for an event that never occurred in `size` tasks.
    """
    return float(1 - ((1 - level) / 2) ** (1 / size))
