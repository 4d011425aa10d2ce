"""Regions of job values in which each approach is best (UpBench 5.4.1), with intervals and probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Flags, Floats, count_flags, flags, floats, money, same_length
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.intervals import percentiles

from .best_approach_by_value import Approach, Decision, Region, decide_by_value
from .dollars_earned import by_task

FEWEST_JOBS = 5
"""Minimum number of tasks with known outcomes for computing regions."""
NOTHING = "nothing"
_METHOD = "Bayesian bootstrap over jobs, with one pseudo-job"
_MANY = 2_000
"""Number of tasks above which their sums are drawn from the normal approximation. The result is the same and needs no
memory per task.
"""

_LIGHT = 1e-4
"""Weight, as a part of one task, at or below which a task is left out."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes of one approach, with one row per job. All approaches list the jobs in the same order.

    `passed` is null if the job is ungraded. `cost` is in US dollars, null if unknown. `assumed` is true if the passes
    are assumed and not observed.
    """

    passed: Column
    cost: Column
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class ChosenRegion:
    """A range of task values in which `approach` is best.

    `low` and `high` are the ends of the range in US dollars. Their values follow from the observed success rates and
    costs. Their intervals come from those simulated success rates and costs under which the approach has a region.
    `exists` is the probability that the approach has a region.
    """

    approach: str
    low: Estimate
    high: Estimate
    exists: Estimate


class Choice:
    """The best of several approaches for each task value, with probabilities. Calling a method twice gives the same
    result.
    """

    def __init__(self, names: Sequence[str], seen: Floats, drawn: Floats, counts: Counts, how: Resampling) -> None:
        """Store the observed and the simulated outcomes of the approaches.

        `seen` contains the observed success rates and mean costs, with shape (2, approaches). `drawn` contains
        simulated ones, with shape (2, draws, approaches).
        """
        self.names = tuple(names)
        self.counts = counts
        self._seen, self._drawn, self._how = seen, drawn, how

    def best(self, value: float) -> dict[str, float]:
        """Return, for each approach, the probability that it has the highest expected value at the task value `value`
        in US dollars.
        """
        if not 0 <= value < float("inf"):
            raise UsageError(f"the task value {value} is out of range", next="pass US dollars, 0 or more")
        success, cost = self._drawn
        won = np.bincount((success * value - cost).argmax(axis=1), minlength=len(self.names))
        # Never quite 0 or 1: no number of draws shows that.
        return dict(zip(self.names, ((won + 1 / len(won)) / (won.sum() + 1)).tolist(), strict=True))

    def likeliest_at(self, value: float) -> Estimate:
        """Return the approach that is most likely the best at this task value. Its name is the name of the estimate,
        and its probability of being best is the value.
        """
        name, chance = max(self.best(value).items(), key=lambda item: item[1])
        return Estimate(name, chance, self.counts, method=_METHOD, unit=Unit.SHARE)

    def gain(self, name: str, over: str | None, value: float, jobs: float = 1.0) -> Estimate:
        """Return how many US dollars more the approach `name` brings than the approach `over` in `jobs` jobs of this
        value. If `over` is None, it is compared with leaving the jobs undone.
        """
        net, seen = (s * value - c for s, c in (self._drawn, self._seen))
        one = self.names.index(name)
        other = 0.0 if over is None else net[:, self.names.index(over)]
        low, high = percentiles(jobs * (net[:, one] - other), self._how.level)
        at = jobs * float(seen[one] - (0.0 if over is None else seen[self.names.index(over)]))
        low, high = (at if low is None else min(low, at)), (at if high is None else max(high, at))
        called = name if over is None else f"{name} over {over}"
        return Estimate(called, at, self.counts, low, high, self._how.level, _METHOD, unit=Unit.USD)

    def regret(self, name: str, value: float) -> float:
        """Return the mean loss, in US dollars per job, from choosing `name` although another approach may be better.

        This is the maximum that better knowledge would be worth (the expected value of perfect information).
        """
        net = self._drawn[0] * value - self._drawn[1]
        return float((net.max(axis=1) - net[:, self.names.index(name)]).mean())

    @cached_property
    def regions(self) -> tuple[ChosenRegion, ...]:
        """Return one region per approach, in the order in which the approaches were given."""
        lows, highs = zip(*(_ends(self._drawn[0], self._drawn[1], k) for k in range(len(self.names))), strict=True)
        middle = {r.approach: r for r in self.decision.regions}
        return tuple(
            self._region(name, middle.get(name), low, high)
            for name, low, high in zip(self.names, lows, highs, strict=True)
        )

    @cached_property
    def decision(self) -> Decision:
        """Return the regions that follow from the observed success rates and mean costs, without uncertainty."""
        lines = [Approach(n, float(s), float(c)) for n, s, c in zip(self.names, *self._seen, strict=True)]
        return decide_by_value(lines)

    def _region(self, name: str, seen: Region | None, low: Floats, high: Floats) -> ChosenRegion:
        has = low < high
        share = (float(has.sum()) + 0.5) / (len(has) + 1)
        exists = Estimate(f"{name} has a region", share, self.counts, method=_METHOD, unit=Unit.SHARE)
        if seen is None:
            none = f"{name} is best at no value"
            low_, high_ = (Estimate(what, None, self.counts, unit=Unit.USD, reason=none) for what in ("from", "to"))
            return ChosenRegion(name, low_, high_, exists)
        return ChosenRegion(name, self._end("from", seen.low, low[has]), self._end("to", seen.high, high[has]), exists)

    def _end(self, what: str, seen: float | None, drawn: Floats) -> Estimate:
        if seen is None:
            return Estimate(what, None, self.counts, unit=Unit.USD, reason="it has no end")
        low, high = _end_percentiles(drawn, self._how.level)
        low = seen if low is None else min(low, seen)
        note = "no upper end: an approach may be no worse at any value" if high is None else ""
        high = high if high is None else max(high, seen)
        if low == high:
            return Estimate(what, seen, self.counts, unit=Unit.USD)
        return Estimate(what, seen, self.counts, low, high, self._how.level, _METHOD, unit=Unit.USD).noting(note)


def choose_from_jobs(
    outcomes: Mapping[str, Outcomes],
    *,
    task: Column | None = None,
    weight: Column | None = None,
    nothing: bool = False,
    how: Resampling = DEFAULT,
) -> Choice | str:
    """Return, from the same jobs done by several approaches, a `Choice` that says how certainly each approach is best.
    Return a text with the reason if too few tasks have known outcomes (see `FEWEST_JOBS`).

    `outcomes` maps each approach to its `Outcomes`. Jobs without a verdict or a cost under any approach are left out
    and counted. Rows with the same `task` are drawn together. `weight`, in 0..1 and 1 by default, is the part of a job
    for which a row counts; a task has the mean weight of its rows. `nothing` adds the choice of leaving the job undone.
    Raises UsageError if no approach is given, or if columns differ in length.
    """
    if not outcomes:
        raise UsageError(
            "the outcomes contain no approach to choose from", next="pass the outcomes of at least one approach"
        )
    columns = {f"{what} {n}": c for n, o in outcomes.items() for what, c in (("passed", o.passed), ("cost", o.cost))}
    same_length(**columns, task=task, weight=weight)
    passes = [flags(f"passed {name}", o.passed) for name, o in outcomes.items()]
    costs = [money(f"cost {name}", o.cost) for name, o in outcomes.items()]
    rows: Flags = np.logical_and.reduce([has for _, has in (*passes, *costs)])
    counts = Counts(len(rows), count_flags(rows), ungraded=count_flags(~rows))
    values = [*(won.astype(np.float64) for won, _ in passes), *(spent for spent, _ in costs)]
    heavy = np.ones(len(rows)) if weight is None else floats("weight", weight, low=0, high=1)[0]
    jobs, near, *each = by_task(task, rows, np.ones(len(rows)), heavy, *values)
    heavy = near / jobs
    if heavy.sum() < FEWEST_JOBS:
        more = math.ceil(FEWEST_JOBS - float(heavy.sum()))
        return (
            f"too little was measured: {heavy.sum():.3g} tasks with known costs, and {FEWEST_JOBS} are needed, "
            f"so at least {more} more"
        )
    sums, heavy = np.stack([jobs, *each], axis=1)[heavy > _LIGHT], heavy[heavy > _LIGHT]
    open_ = [k for k, o in enumerate(outcomes.values()) if not o.assumed]
    names, k = list(outcomes), len(outcomes)
    means = heavy @ sums / (heavy @ sums[:, 0])
    seen = means[1:].reshape(2, k)
    drawn = np.moveaxis(_worlds(sums, heavy, open_, k, how).reshape(-1, 2, k), 1, 0)
    if nothing:
        names = [*names, NOTHING]
        seen, drawn = (np.concatenate([a, np.zeros((*a.shape[:-1], 1))], axis=-1) for a in (seen, drawn))
    return Choice(names, seen, drawn, counts, how)


def _worlds(sums: Floats, weight: Floats, open_: Sequence[int], k: int, how: Resampling) -> Floats:
    """Draw success rates and mean costs that are compatible with the observed tasks, as an array of shape (draws, 2 k)
    for k approaches.

    `sums` contains the jobs, passes and costs of each task; each task is drawn by its weight. One additional
    pseudo-job, divided among all combinations of passes and fails, prevents a perfect record from looking certain (for
    a single rate it is Jeffreys' prior). The draws have fewer degrees of freedom than tasks, so that they are as wide
    as Student's t.
    """
    rng, size = how.rng(), float(weight.sum())
    means = weight @ sums / (weight @ sums[:, 0])
    ways = np.array([means] * 2 ** len(open_))
    for row, way in zip(ways, itertools.product((0.0, 1.0), repeat=len(open_)), strict=True):
        row[[1 + place for place in open_]] = way
    pseudo = rng.standard_gamma(1 / len(ways), (how.resamples, len(ways))) @ ways
    if size > _MANY:
        spread = size * np.cov(sums.T, aweights=weight)
        total = rng.multivariate_normal(weight @ sums, spread, how.resamples)
    else:
        alpha = max(0.5, (size - 2) / size)
        total = rng.standard_gamma(alpha * weight, (how.resamples, len(sums))) @ sums
        pseudo *= alpha
    total += pseudo
    found: Floats = total[:, 1:] / total[:, :1]
    found[:, :k] = found[:, :k].clip(0, 1)
    found[:, k:] = found[:, k:].clip(0)
    return found


def _ends(success: Floats, cost: Floats, k: int) -> tuple[Floats, Floats]:
    """Return, for each draw, the lowest and the highest task value at which approach `k` is best. If the lowest is not
    below the highest, the approach is best at no value.
    """
    gain, extra = success[:, [k]] - success, cost[:, [k]] - cost
    with np.errstate(divide="ignore", invalid="ignore"):
        even = extra / gain
    low = np.where(gain > 0, even, 0.0).max(axis=1).clip(0)
    high = np.where(gain < 0, even, np.inf).min(axis=1)
    never = ((gain == 0) & (extra > 0)).any(axis=1)
    return low, np.where(never, -np.inf, high)


def _end_percentiles(drawn: Floats, level: float) -> tuple[float | None, float | None]:
    """Return the two percentiles of region ends that bound `level` of the draws; None for an infinite end."""
    if not len(drawn):
        return None, None
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return (float(low) if np.isfinite(low) else None), (float(high) if np.isfinite(high) else None)
