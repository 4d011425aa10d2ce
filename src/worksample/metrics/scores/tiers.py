"""Full pass and mean score by tier and pooled, with repeats, resources and timeouts (ALE 4.1, Table 1, Tables 6 and 7).

All take one agent's trials, one row each: task, and where they differ instance; rows of one instance are repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.columns import (
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    flags,
    floats,
    narrow,
    same_length,
    series,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.hierarchy import Hierarchy, independent
from worksample.records import is_full

from .rates import LEFT_OUT, bounds, mean_within, nothing_valid, rate_within, share, structure, valid_rows


@dataclass(frozen=True, slots=True)
class Trials:
    """Columns of one agent's trials. `score` in 0..1, null where there is none; `state` says why; the rest is optional:
    without `task` each row is a task of its own.
    """

    score: Column
    task: Column | None = None
    instance: Column | None = None
    state: Column | None = None
    failed: Column | None = None
    """Rows without a score that can only fail: 0 in both bounds."""

    def where(self, rows: Flags) -> Trials:
        """The same columns, these rows alone."""
        mask = pl.Series(rows)
        columns = (self.score, self.task, self.instance, self.state, self.failed)
        return Trials(*(None if c is None else series("column", c).filter(mask) for c in columns))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return same_length(score=self.score, task=self.task, instance=self.instance, state=self.state)


@dataclass(frozen=True, slots=True)
class _Graded:
    """The valid scores, their counts and their hierarchy (None where nothing is valid), read once for all figures."""

    values: Floats
    counts: Counts
    h: Hierarchy | None
    valid: Flags
    trials: Trials

    def where(self, rows: Flags) -> _Graded:
        """The same for some of the rows."""
        kept = self.trials.where(rows)
        valid, counts = valid_rows("score", self.valid[rows], kept.state)
        inside = rows if self.valid.all() else rows[self.valid]
        h = self.h.where(inside) if self.h is not None and counts.valid else None
        return _Graded(self.values[inside], counts, h, valid, kept)

    def bounds(self, credit: Floats) -> tuple[float, float] | None:
        """Of the mean of what the valid trials are given credit for."""
        if self.valid.all():
            return None
        whole = np.zeros(len(self.valid))
        whole[self.valid] = credit
        return bounds(whole, self.valid, (self.trials.task, self.trials.instance), self.trials.failed)


def _graded(trials: Trials) -> _Graded:
    numbers, present = floats("score", trials.score, low=0, high=1)
    same_length(score=trials.score, state=trials.state, task=trials.task, instance=trials.instance)
    valid, counts = valid_rows("score", present, trials.state)
    h = structure(trials.task, trials.instance, valid) if counts.valid else None
    return _Graded(numbers if valid.all() else numbers[valid], counts, h, valid, trials)


def full_pass(trials: Trials, how: Resampling = DEFAULT) -> Estimate:
    """The share of tasks with full credit. With repeats a task's credit is the mean over its runs, and so on upwards:
    never the mean of the tiers' rates.
    """
    return _full_pass(_graded(trials), how)


def _full_pass(graded: _Graded, how: Resampling) -> Estimate:
    credit = is_full(graded.values).astype(np.float64)
    return replace(rate_within("full pass", graded.h, credit, graded.counts, how), bounds=graded.bounds(credit))


def _mean(graded: _Graded, how: Resampling) -> Estimate:
    if graded.h is None:
        return Estimate("mean score", None, graded.counts, unit=Unit.SHARE, reason=nothing_valid(graded.counts))
    found = mean_within("mean score", graded.h, graded.values, graded.counts, how)
    return replace(found, bounds=graded.bounds(graded.values))


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeats of the same instance. `run`: standard deviation of one run's score around its instance's mean, pooled
    over the instances with two runs or more; `whole`: of the mean score of one run over all tasks (what ALE's Table 1
    has as superscript); `mean`: what all runs leave of uncertainty in the mean score.
    """

    run: Estimate
    whole: Estimate
    mean: Estimate


def repeat_spread(trials: Trials) -> Spread:
    """Standard deviations over repeated runs of the same instance, with unbiased variances per instance.

    None where no instance has two valid runs. Instances with one run enter `mean` with the pooled deviation.
    """
    return _repeat_spread(_graded(trials))


def _repeat_spread(graded: _Graded) -> Spread:
    values, counts, h = graded.values, graded.counts, graded.h
    if h is None:
        none = Estimate("run sd", None, counts, unit=Unit.SPREAD, reason=nothing_valid(counts))
        return Spread(none, none.called("sd of run means"), none.called("sd of the mean score"))
    repeated = h.repeats >= 2
    counts = counts.having(instances=len(h.repeats), repeated_instances=int(repeated.sum()))
    if not repeated.any():
        none = Estimate("run sd", None, counts, unit=Unit.SPREAD, reason="no instance has two valid runs")
        return Spread(none, none.called("sd of run means"), none.called("sd of the mean score"))
    squares = h.within((values - h.instance_means(values)[h.cell]) ** 2)
    variance = squares[repeated] / (h.repeats[repeated] - 1)
    pooled = float(variance.mean())
    each = np.full(len(h.repeats), pooled)
    each[repeated] = variance
    within_task = h.across(each / h.repeats) / h.instances**2
    error = float(np.sqrt(within_task.sum()) / h.tasks)
    whole = float(np.sqrt((h.across(each) / h.instances**2).sum()) / h.tasks)
    alone = int((~repeated).sum())
    note = f"{alone} instances with one run enter with the pooled deviation" if alone else ""
    return Spread(
        Estimate("run sd", float(np.sqrt(pooled)), counts, unit=Unit.SPREAD),
        Estimate("sd of run means", whole, counts, unit=Unit.SPREAD).noting(note),
        Estimate("sd of the mean score", error, counts, unit=Unit.SPREAD).noting(note),
    )


@dataclass(frozen=True, slots=True)
class Tier:
    """One block of ALE's Table 1; `totals` are the summed resources (cost in US dollars, seconds, tokens, ...)."""

    name: str
    full_pass: Estimate
    score: Estimate
    spread: Spread
    totals: dict[str, Estimate]


def tier_table(
    trials: Trials,
    tier: Column,
    resources: dict[str, Column] | None = None,
    order: tuple[str, ...] = (),
    how: Resampling = DEFAULT,
) -> tuple[Tier, ...]:
    """One `Tier` per tier, in `order` (else sorted), and "overall" last, pooled over tasks.

    `resources`: numbers per trial, 0 or more, null where unknown. Errors: UsageError for a tier outside `order`.
    """
    used = resources or {}
    same_length(score=trials.score, tier=tier, **used)
    tiers = codes("tier", tier)
    names = tiers.names()
    if stray := sorted(set(names) - set(order)) if order else []:
        raise UsageError(f"tier {stray[0]} is not in the order given", where="column 'tier'")
    whole = _graded(trials)
    out = []
    for name in [*(order or sorted(names)), "overall"]:
        graded, totals = whole, used
        if name != "overall":
            rows = tiers.index == names.index(name) if name in names else np.zeros(len(tiers.index), dtype=bool)
            graded = whole.where(rows)
            totals = {key: series(key, column).filter(pl.Series(rows)) for key, column in used.items()}
        summed = {key: total(key, column) for key, column in totals.items()}
        out.append(Tier(name, _full_pass(graded, how), _mean(graded, how), _repeat_spread(graded), summed))
    return tuple(out)


def total(name: str, amount: Column) -> Estimate:
    """The sum of a resource. Where some are unknown it is a lower bound, and the counts say how many."""
    numbers, known = floats(name, amount, low=0.0)
    counts = Counts(len(numbers), int(known.sum()), ungraded=int((~known).sum()))
    unit = Unit.USD if "cost" in name else Unit.NUMBER
    if not known.any():
        reason = "nothing was planned" if not len(numbers) else f"no trial has a known {name}"
        return Estimate(name, None, counts, unit=unit, reason=reason)
    lower = "" if known.all() else f"{counts.ungraded} trials without a known {name}: a lower bound"
    return Estimate(name, float(numbers[known].sum()), counts, unit=unit).noting(lower)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How often the cap was reached, and the mean scores of the runs that did and did not. What such a run left behind
    is graded like any other (ALE D.2).
    """

    rate: Estimate
    timed_out: Estimate
    others: Estimate


def timeout_table(
    trials: Trials, timed_out: Column, by: Column | None = None, how: Resampling = DEFAULT
) -> dict[str, Timeouts]:
    """Timeouts per group (ALE Tables 6 and 7) and, under "overall", of all runs. Here the runs are the unit of the
    rate, as in the paper; intervals follow the tasks they share.
    """
    late, known = flags("timed_out", timed_out)
    same_length(score=trials.score, timed_out=timed_out, by=by)
    numbers, present = floats("score", trials.score, low=0, high=1)
    valid, _ = valid_rows("score", present, trials.state)
    groups = codes("by", by) if by is not None else codes("by", ["overall"] * len(late))
    runs = _Runs(trials, (numbers, valid), (late, known), groups, how)
    labels = sorted((name, place) for place, name in enumerate(groups.names()) if name != "overall")
    return {name: runs.timeouts(place) for name, place in [*labels, ("overall", None)]}


class _Runs:
    """Runs as the unit, with intervals that follow when the tasks they share are resampled. They are sorted once, so
    that the late ones and the others of every group stand together.
    """

    def __init__(
        self,
        trials: Trials,
        scores: tuple[Floats, Flags],
        lateness: tuple[Flags, Flags],
        groups: Codes,
        how: Resampling,
    ) -> None:
        late, known = lateness
        side = np.where(known, np.where(late, 0, 1), 2)
        key = narrow(side * groups.size + groups.index, 3 * groups.size)
        self.order = np.argsort(key, kind="stable")
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=3 * groups.size))])
        self.size, self.how = groups.size, how
        self.numbers, self.valid = scores[0][self.order], scores[1][self.order]
        self.state = None if trials.state is None else series("state", trials.state)
        self.tasks = None if trials.task is None else codes("task", trials.task)
        self.task = self.order if self.tasks is None else self.tasks.index[self.order]

    def timeouts(self, group: int | None) -> Timeouts:
        """Of one group, or of all."""
        late, early = self._part(0, group), self._part(1, group)
        means = self._mean("timeout score", late), self._mean("other score", early)
        return Timeouts(self._share(late, early, self._part(2, group)), *means)

    def _part(self, side: int, group: int | None) -> slice:
        first = side * self.size
        bounds = (first, first + self.size) if group is None else (first + group, first + group + 1)
        return slice(int(self.ends[bounds[0]]), int(self.ends[bounds[1]]))

    def _share(self, late: slice, early: slice, unknown: slice) -> Estimate:
        hits, others, ungraded = (part.stop - part.start for part in (late, early, unknown))
        counts = Counts(hits + others + ungraded, hits + others, ungraded=ungraded)
        plain = share("timeout rate", hits, counts, level=self.how.level)
        if self.tasks is None or not counts.valid:
            return plain
        above = np.bincount(self.task[late], minlength=self.tasks.size)
        return self._by_task(plain, above, above + np.bincount(self.task[early], minlength=self.tasks.size), 1.0)

    def _mean(self, name: str, part: slice) -> Estimate:
        state = None if self.state is None else self.state.gather(self.order[part])
        kept, counts = valid_rows("score", self.valid[part], state)
        if not counts.valid:
            return Estimate(name, None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
        values, task = self.numbers[part], self.task[part]
        if counts.valid < counts.planned:
            values, task = values[kept], task[kept]
        below = None if self.tasks is None else np.bincount(task, minlength=self.tasks.size)
        if self.tasks is None or below is None or int(below.max()) == 1:
            return mean_within(name, independent(len(values)), values, counts, self.how)
        given = (LEFT_OUT,) if counts.valid < counts.planned else ()
        counts, value = counts.having(tasks=int((below > 0).sum())), min(max(float(values.mean()), 0.0), 1.0)
        plain = Estimate(name, value, counts, unit=Unit.SHARE, conditional_on=given)
        total = np.bincount(task, weights=values, minlength=self.tasks.size)
        return self._by_task(plain, total, below, units.zero_or_one(values))

    def _by_task(self, plain: Estimate, above: Floats | Ints, below: Floats | Ints, alike: float) -> Estimate:
        some = below > 0
        if int(some.sum()) == int(below.sum()):
            return plain
        weight = below[some].astype(np.float64)
        ends, note = units.share(above[some] / weight, self.how.level, weight=weight, alike=alike)
        return replace(plain, **ends._asdict(), notes=(note,) if note else ())
