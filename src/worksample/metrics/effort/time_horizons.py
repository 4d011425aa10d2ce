"""Time horizon of an agent: the length of work, in hours of a human, at which the agent succeeds in 50 % (or 80 %) of
trials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Column,
    Floats,
    Ints,
    codes,
    count_flags,
    flags,
    floats,
    same_length,
    series,
)
from worksample.metrics.counts import Counts, with_noun
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling, group_sums
from worksample.metrics.uncertainty.unit_intervals import student

FEWEST = 5
"""Minimum number of tasks for the interval of a horizon."""
_STEEP = 60.0
"""Slope, in logits per doubling of the hours, above which the hours count as separating successes from failures
perfectly.
"""


@dataclass(frozen=True, slots=True)
class Horizon:
    """A curve of success over the length of work.

    `horizons` gives the time horizon for each success rate. `slope` is in logits per doubling of the hours; a negative
    slope means that longer work succeeds less often.
    """

    horizons: dict[float, Estimate]
    slope: Estimate


def time_horizon(
    hours: Column,
    passed: Column,
    *,
    task: Column | None = None,
    at: tuple[float, ...] = (0.5, 0.8),
    how: Resampling = DEFAULT,
) -> Horizon:
    """Fit the probability of success by a logistic curve in log2 of the human hours. The horizon at q is the length of
    work at which the curve has the value q.

    The columns have one row per trial of one agent. `hours` is above 0, null if unknown. `passed` is null if the trial
    has no verdict. With `task`, each task has weight 1 regardless of its number of trials, and intervals are computed
    over tasks. The estimate has no value if success does not fall with hours, if hours separate successes from failures
    perfectly, or if all trials or no trials succeeded.

    The interval of a horizon contains all hours at which the curve may have the value q. It is Fieller's interval, from
    the curve's sandwich variance by task and Student's t. An end is open if the curve may be flat.
    """
    same_length(hours=hours, passed=passed, task=task)
    if not all(0 < q < 1 for q in at):
        raise UsageError(
            f"horizons cannot be computed at the success rates {at}", next="pass success rates between 0 and 1"
        )
    length, known = floats("hours", hours, low=0.0)
    yes, judged = flags("passed", passed)
    if (wrong := known & (length <= 0)).any():
        raise UsageError(
            f"row {int(np.flatnonzero(wrong)[0])} has a duration of 0 hours",
            where="column 'hours'",
            next="pass hours above 0, or None if they are unknown",
        )
    rows = known & judged
    counts = Counts(len(rows), count_flags(rows), ungraded=count_flags(~judged)).having(
        without_hours=count_flags(judged & ~known), passed=count_flags(yes & rows)
    )
    length, yes = (length, yes) if rows.all() else (length[rows], yes[rows])
    x, y, w = np.log2(length), yes.astype(np.float64), np.ones(1)
    group = np.arange(counts.valid), counts.valid
    if task is not None:
        found = codes("task", series("task", task).filter(pl.Series(rows)))
        group = found.index, found.size
        w = 1 / np.bincount(found.index, minlength=found.size)[found.index]
    reason = _unfit(x, y)
    fitted: Floats | None = None
    if not reason:
        every = max(1, len(x) // 5000)
        rough = _fit(x[::every], y[::every], w if len(w) == 1 else w[::every]) if every > 1 else None
        fitted = _fit(x, y, w, rough)
        if fitted is None:
            reason = "hours separate successes from failures perfectly: the curve is a step"
        elif fitted[1] >= 0:
            reason = "success does not fall with hours"
    if reason or fitted is None:
        none = {q: Estimate(_name(q), None, counts, unit=Unit.HOURS, reason=reason) for q in at}
        return Horizon(none, Estimate("slope per doubling", None, counts, reason=reason))
    seen = float(x.min()), float(x.max())
    curve = _Curve(fitted, _spread((x, y, w), fitted, group), group[1], how.level, seen)
    ends, out = (2.0 ** seen[0], 2.0 ** seen[1]), {}
    for q in at:
        if (value := curve.hours(q)) is None:
            told = f"{ends[0]:.2g} to {ends[1]:.2g} hours"
            far = (
                f"the curve is nearly flat: tasks took {told}, and it reaches {q:.0%} only beyond a million times that"
            )
            out[q] = Estimate(_name(q), None, counts, unit=Unit.HOURS, reason=far)
            continue
        interval, note = curve.interval(q)
        beyond = "" if ends[0] <= value <= ends[1] else f"extrapolated: tasks took {ends[0]:.2g} to {ends[1]:.2g} hours"
        estimate = Estimate(_name(q), value, counts, *interval, unit=Unit.HOURS)
        out[q] = estimate.noting(beyond, note).conditional_on_more("success is logistic in log hours")
    interval, note = curve.slope()
    return Horizon(out, Estimate("slope per doubling", float(fitted[1]), counts, *interval).noting(note))


def _name(q: float) -> str:
    return f"{q:.0%} time horizon"


def _unfit(x: Floats, y: Floats) -> str:
    if len(x) < 2:
        return f"{len(x)} trials with hours and a verdict are too few"
    if y.min() == y.max():
        return "every trial passed" if y[0] else "no trial passed"
    return "all tasks took the same hours" if np.ptp(x) == 0 else ""


@dataclass(frozen=True, slots=True)
class _Curve:
    """A fitted curve: its intercept and its slope in log2 hours, the covariance of both, and the tasks and log2 hours
    of the data.
    """

    fitted: Floats
    covariance: Floats
    tasks: int
    level: float
    seen: tuple[float, float]

    def hours(self, q: float) -> float | None:
        """Return the hours at which the curve has the value q. Return None if they are so far from the hours of all
        tasks that the data say nothing about them.
        """
        doublings = (math.log(q / (1 - q)) - float(self.fitted[0])) / float(self.fitted[1])
        return 2.0**doublings if self.seen[0] - _FAR <= doublings <= self.seen[1] + _FAR else None

    @property
    def few(self) -> str:
        return (
            ""
            if self.tasks >= FEWEST
            else f"{with_noun(self.tasks, 'task')}, too few for an interval: {FEWEST} are needed"
        )

    @property
    def reach(self) -> float:
        """Student's quantile for the intervals. The degrees of freedom are reduced by one for each of the curve's two
        coefficients.
        """
        return student(self.level, self.tasks - 2)

    def slope(self) -> tuple[Interval, str]:
        """Return the interval of the slope, and a note for the reader."""
        if self.few:
            return Interval(), self.few
        slope, error = float(self.fitted[1]), math.sqrt(float(self.covariance[1, 1]))
        half = self.reach * error
        return Interval(slope - half, slope + half, self.level, "Student's t, sandwich variance by task", error), ""

    def interval(self, q: float) -> tuple[Interval, str]:
        """Return the interval of the horizon at q in log2 hours, and a note for the reader.

        The interval contains all t at which the fitted logit is within `reach` standard errors of the logit of q. These
        t are the solution of a quadratic inequality. A curve that may be flat leads to only one end or none.
        """
        if self.few:
            return Interval(), self.few
        gap, slope = float(self.fitted[0]) - math.log(q / (1 - q)), float(self.fitted[1])
        (v00, v01), (_, v11) = (self.reach**2 * self.covariance).tolist()
        square, middle, constant = slope**2 - v11, v01 - gap * slope, gap**2 - v00
        rest = middle**2 - square * constant
        low: float | None = None
        high: float | None = None
        if square > 0:
            root = math.sqrt(max(rest, 0.0))
            low, high = (middle - root) / square, (middle + root) / square
        elif square < 0 < rest:
            # Values between the roots are ruled out; beyond them are the curves that rise.
            ends = sorted((middle + side * math.sqrt(rest)) / square for side in (1.0, -1.0))
            low, high = (ends[1], None) if -gap / slope >= ends[1] else (None, ends[0])
        low = None if low is None or low < self.seen[0] - _FAR else 2.0**low
        high = None if high is None or high > self.seen[1] + _FAR else 2.0**high
        open_ = "" if low is not None and high is not None else "the curve may be nearly flat: "
        if open_:
            open_ += "no end" if low is high is None else "no upper end" if high is None else "no lower end"
        return Interval(low, high, self.level, "Fieller's of a logistic curve in log2 hours, by task"), open_


_FAR = 20.0
"""Maximum distance of a horizon from the hours of all tasks, in doublings. Beyond it, at a million times their length,
the tasks prove nothing.
"""


def _fit(x: Floats, y: Floats, w: Floats, start: Floats | None = None) -> Floats | None:
    """Fit a logistic regression by Newton's method and return (intercept, slope), or None if the method diverges. `w`
    is the weight of each row.
    """
    centre, scale = float(x.mean()), max(float(x.std()), 1e-12)
    z = (x - centre) / scale
    squared, whole = z * z, float(np.broadcast_to(w, x.shape).sum())
    one, two = (0.0, 0.0) if start is None else (start[0] + start[1] * centre, start[1] * scale)
    for _ in range(60):
        pull, wv = _residuals(one + two * z, y, w)
        g0, g1 = float(pull.sum()), float(pull @ z)
        a, b, c = float(wv.sum()), float(wv @ z), float(wv @ squared)
        determinant = a * c - b * b
        if determinant <= 1e-14 * whole**2:
            return None
        steps = [min(2.0, max(-2.0, step / determinant)) for step in (c * g0 - b * g1, a * g1 - b * g0)]
        one, two = one + steps[0], two + steps[1]
        # A step of Newton's leaves an error of about its square.
        if max(map(abs, steps)) < _ENOUGH:
            slope = two / scale
            return np.array([one - slope * centre, slope]) if abs(slope) < _STEEP else None
    return None


_ENOUGH = 1e-4


def _residuals(logit: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return each row's distance above the curve, and the row's weight in the information matrix."""
    np.clip(logit, -500, 500, out=logit)
    p = np.exp(np.negative(logit, out=logit), out=logit)
    np.reciprocal(np.add(p, 1, out=p), out=p)
    pull = y - p
    wv = p * np.subtract(1, p)
    return (pull, wv) if len(w) == 1 else (w * pull, w * wv)


def _spread(data: tuple[Floats, Floats, Floats], fitted: Floats, group: tuple[Ints, int]) -> Floats:
    """Return the covariance of (intercept, slope), computed with tasks as independent units: the sandwich estimate with
    its factor for small samples.
    """
    x, y, w = data
    index, size = group
    pull, wv = _residuals(fitted[0] + fitted[1] * x, y, w)
    tilted, turned = pull * x, wv * x
    bread = np.linalg.inv(np.array([[wv.sum(), turned.sum()], [turned.sum(), turned @ x]]))
    if size < len(x):
        pull, tilted = group_sums(index, size, pull, tilted).T
    meat = np.array([[pull @ pull, pull @ tilted], [pull @ tilted, tilted @ tilted]])
    return np.asarray(bread @ meat @ bread) * size / max(size - 1, 1)
