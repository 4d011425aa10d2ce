"""The mean difference between two agents over tasks. One test gives its interval, its p value and the probability that
an agent is better.

A one-sided bound is Gaffke's (2005; Learned-Miller and Thomas 2019). Tasks get random weights that add up to 1, and one
additional task is assumed that contradicts the claim as strongly as a task can. For tasks that pass or fail, the p
value of no difference is that of the exact sign test (McNemar). If no task differs, an end is Clopper and Pearson's.
The distribution of the weighted mean is computed by the saddlepoint approximation (Lugannani and Rice 1980), with a
relative error of at most 2 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worksample.metrics.column_checks import Floats

from .bootstrap import Interval
from .unit_intervals import ONE_UNIT

_TINY = 1e-12
_STEPS, _FEW, _NEAR = 80, 32, 1e-3
NONE_DIFFERS = "no task differs: the interval allows for one that does"


def positive(values: Floats, times: Floats) -> Floats:
    """Return, for each row of `times`, the probability that a sum of exponential draws, each multiplied by its value,
    is above 0.

    `times` has shape (rows, values): the number of draws with each value. `values` has one element per value, or shape
    (rows, values) if rows have different values.
    """
    from scipy.special import ndtr

    there = times > 0
    top = np.where(there, values, -np.inf).max(axis=1)
    bottom = np.where(there, values, np.inf).min(axis=1)
    out = np.where(top <= _TINY, 0.0, 1.0)
    rows = np.flatnonzero((top > _TINY) & (bottom < -_TINY))
    if not len(rows):
        return out
    held, values = times[rows], values if values.ndim == 1 else values[rows]
    at = _saddle(values, held, 1 / bottom[rows], 1 / top[rows])
    # A value without draws may lie beyond the pole.
    ratio = np.where(held > 0, values / np.where(held > 0, 1 - at[:, None] * values, 1.0), 0.0)
    inside = np.where(held > 0, at[:, None] * values, 0.0)
    height = -(held * np.log1p(-inside)).sum(axis=1)
    curve = (held * ratio**2).sum(axis=1)
    far = np.copysign(np.sqrt(np.maximum(-2 * height, 0.0)), at)
    near = np.abs(far) < _NEAR
    safe = np.where(near, 1.0, far)
    slope = np.where(near, 1.0, at * np.sqrt(curve))
    tail = ndtr(-far) + np.exp(-far * far / 2) / math.sqrt(2 * math.pi) * (1 / slope - 1 / safe)
    middle = 0.5 - (held * ratio**3).sum(axis=1) / (3 * math.sqrt(2 * math.pi) * curve**1.5)
    out[rows] = np.clip(np.where(near, middle, tail), 0.0, 1.0)
    return out


def p_of(values: Floats, times: Floats, adverse: float | Floats) -> Floats:
    """Return the one-sided p value of no difference for many studies at once, one study per row. `values` are the
    differences of the tasks.

    The result equals `MeanDifferenceTest.p_below` of each study. One additional task is assumed with the difference
    `adverse`.
    """
    rows = len(times)
    far = np.broadcast_to(np.asarray(adverse, dtype=np.float64)[..., None], (rows, 1))
    every = np.concatenate([np.broadcast_to(values, times.shape), far], axis=1)
    return positive(every, np.column_stack([times, np.ones(rows)]))


def _saddle(values: Floats, times: Floats, low: Floats, high: Floats) -> Floats:
    """Return the saddlepoint of each row: the point between the poles of the cumulant function at which its slope is 0.

    Newton's method is used. A step that leaves the bracket is replaced by the middle of the bracket.
    """
    found, left = np.zeros(len(times)), np.arange(len(times))
    low, high, at = low.copy(), high.copy(), np.zeros(len(times))
    for _ in range(_STEPS):
        # A value without draws may lie beyond a pole and contributes nothing.
        ratio = values * (times > 0) / np.where(times > 0, 1 - at[:, None] * values, 1.0)
        pull = times * ratio
        slope, curve = pull.sum(axis=1), (pull * ratio).sum(axis=1)
        high, low = np.where(slope > 0, at, high), np.where(slope > 0, low, at)
        step = at - slope / curve
        step = np.where((step > low) & (step < high), step, (low + high) / 2)
        moves = np.abs(step - at) > 1e-10 * np.maximum(np.abs(at), 1e-9)
        found[left], at = step, step[moves]
        if not len(at):
            break
        left, low, high, times = left[moves], low[moves], high[moves], times[moves]
        values = values if values.ndim == 1 else values[moves]
    return found


def chance_positive(values: Floats, times: Floats) -> float:
    """Return `positive` for a single row. A few values are computed in a plain loop, in a thirtieth of the time that
    arrays take.
    """
    if len(values) > _FEW:
        return float(positive(values, times[None, :])[0])
    pairs = [(v, n) for v, n in zip(values.tolist(), times.tolist(), strict=True) if n > 0]
    top, bottom = max(v for v, _ in pairs), min(v for v, _ in pairs)
    if top <= _TINY or bottom >= -_TINY:
        return 0.0 if top <= _TINY else 1.0
    low, high, at = 1 / bottom, 1 / top, 0.0
    for _ in range(_STEPS):
        slope = curve = 0.0
        for value, many in pairs:
            ratio = value / (1 - at * value)
            slope += many * ratio
            curve += many * ratio * ratio
        low, high = (low, at) if slope > 0 else (at, high)
        step = at - slope / curve
        if not low < step < high:
            step = (low + high) / 2
        moved, at = abs(step - at), step
        if moved <= 1e-11 * max(abs(at), 1e-9):
            break
    height = -sum(n * math.log1p(-at * v) for v, n in pairs)
    ratios = [(v / (1 - at * v), n) for v, n in pairs]
    curve = sum(n * r * r for r, n in ratios)
    far = math.copysign(math.sqrt(max(-2 * height, 0.0)), at)
    if abs(far) < _NEAR:
        third = sum(n * r * r * r for r, n in ratios)
        return float(0.5 - third / (3 * math.sqrt(2 * math.pi) * curve * math.sqrt(curve)))
    tail = math.erfc(far / math.sqrt(2)) / 2
    tail += math.exp(-far * far / 2) / math.sqrt(2 * math.pi) * (1 / (at * math.sqrt(curve)) - 1 / far)
    return min(max(tail, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class MeanDifferenceTest:
    """A test of the mean difference over tasks, for a sample of at least two tasks.

    `values` are the distinct differences and `times` the number of tasks with each. `reach` is the largest possible
    difference on one task. `whole` is true if trials are all or nothing; Gaffke's bound is then used alone. For graded
    scores `reach` is a guess, so a p value is never below that of Student's t test.
    """

    values: Floats
    times: Floats
    reach: float
    whole: bool

    @classmethod
    def of(cls, gaps: Floats, alike: float = 1.0) -> MeanDifferenceTest:
        """Build the test from the difference on each task.

        `alike` is `unit_intervals.zero_or_one` of the scores from which the differences were computed. Scores that are
        seldom 0 or 1 have a smaller largest difference. If all tasks have the same difference, the largest difference
        is unknown and 1 is used.
        """
        values, times = np.unique(np.round(gaps, 12), return_counts=True)
        most = float(np.abs(values).max())
        reach = max(1.0 if len(values) == 1 else math.sqrt(alike), most)
        return cls(values, times.astype(np.float64), reach, math.isclose(alike, 1.0, rel_tol=1e-9))

    @property
    def tasks(self) -> float:
        return float(self.times.sum())

    @property
    def middle(self) -> float:
        return float(self.times @ self.values) / self.tasks

    @property
    def error(self) -> float:
        """The standard error of the mean difference; 0 if all tasks have the same difference."""
        apart = self.values - self.middle
        return math.sqrt(float(self.times @ apart**2) / (self.tasks - 1) / self.tasks)

    def p_above(self, threshold: float = 0.0) -> float:
        """Return the probability of a mean difference this high or higher if the true difference were at most
        `threshold` (one-sided p value).
        """
        return self._p(self.values - threshold, -self.reach - threshold)

    def p_below(self, threshold: float = 0.0) -> float:
        """Return the probability of a mean difference this low or lower if the true difference were at least
        `threshold` (one-sided p value).
        """
        return self._p(threshold - self.values, threshold - self.reach)

    def _p(self, values: Floats, adverse: float) -> float:
        p = chance_positive(-np.append(values, adverse), np.append(self.times, 1.0))
        if self.whole or (error := self.error) <= _TINY:
            return p
        from scipy.special import stdtr

        ahead = float(self.times @ values) / self.tasks
        return max(p, float(stdtr(self.tasks - 1, -ahead / error)))

    def above(self, threshold: float = 0.0) -> float:
        """Return the confidence that the true difference is above `threshold`.

        The confidence reaches 97.5 % if and only if the 95 % interval lies above the threshold.
        """
        return 1 - self.p_above(threshold)

    @property
    def ahead(self) -> float:
        """The probability that the true difference is above 0. It is 0.5 if the data favour neither agent."""
        return (1 - self.p_above() + self.p_below()) / 2

    @property
    def p(self) -> float:
        """The two-sided p value of no difference. It is below 1 - level if and only if the interval excludes 0."""
        return min(1.0, 2 * min(self.p_above(), self.p_below()))

    def low(self, tail: float) -> float:
        """Return the lower end of the interval: the smallest threshold that the test does not reject at the one-sided
        error probability `tail`.
        """
        return self._end(self.p_above, -max(1.0, self.reach), tail)

    def high(self, tail: float) -> float:
        return self._end(self.p_below, max(1.0, self.reach), tail)

    def _end(self, p: Callable[[float], float], far: float, tail: float) -> float:
        from scipy.optimize import brentq

        middle = self.middle
        if p(middle) <= tail:
            return middle
        return far if p(far) > tail else float(brentq(lambda at: p(at) - tail, far, middle, xtol=1e-8, rtol=1e-8))


def difference(gaps: Floats, level: float, *, alike: float = 1.0) -> tuple[Interval, str]:
    """Return the interval of the mean of the units' differences, each in -1..1, and a note for the reader (see
    `MeanDifferenceTest`).
    """
    if len(gaps) < 2:
        return Interval(), ONE_UNIT
    return interval_of(MeanDifferenceTest.of(gaps, alike), level)


def interval_of(shift: MeanDifferenceTest, level: float) -> tuple[Interval, str]:
    tail = (1 - level) / 2
    error = shift.error
    differs = bool((np.abs(shift.values) > _TINY).any())
    method = "Gaffke's bounds over tasks" + ("" if shift.whole else ", or Student's t where wider")
    ends = Interval(shift.low(tail), shift.high(tail), level, method, error if error > _TINY else None)
    return ends, "" if differs else NONE_DIFFERS
