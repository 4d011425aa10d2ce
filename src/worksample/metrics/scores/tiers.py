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
    pair_codes,
    picked,
    same_length,
)
from worksample.metrics.counts import Counts, sum_counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.hierarchy import Hierarchy, independent
from worksample.records import is_full

from .rates import (
    LEFT_OUT,
    bounds,
    group_counts,
    mean_within,
    nothing_valid,
    rate_within,
    share,
    structure,
    valid_rows,
)


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

    def of(self, rows: Ints) -> Trials:
        """The same columns, these rows alone."""
        columns = (self.score, self.task, self.instance, self.state, self.failed)
        return Trials(*(None if c is None else picked(c, rows) for c in columns))  # type: ignore[arg-type]

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

    def split(self, groups: Codes) -> dict[str, _Graded]:
        """The same for each group of rows."""
        order = np.argsort(narrow(groups.index, groups.size), kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(groups.index, minlength=groups.size))])
        inside = None if self.valid.all() else np.cumsum(self.valid) - 1
        out = {}
        for place, name in enumerate(groups.names()):
            rows = order[ends[place] : ends[place + 1]]
            kept = self.trials if inside is None and self.trials.state is None else self.trials.of(rows)
            valid, counts = valid_rows("score", self.valid[rows], kept.state)
            graded = rows if inside is None else inside[rows[valid]]
            h = self.h.where(graded) if self.h is not None and counts.valid else None
            out[name] = _Graded(self.values[graded], counts, h, valid, kept)
        return out

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
    repeated = h.repeats >= 2 if not h.single else np.zeros(0, dtype=bool)
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
        raise UsageError(
            f"tier {stray[0]} is not in the order given",
            where="column 'tier'",
            next=f"add it to order, or use one of {', '.join(order)}",
        )
    whole = _graded(trials)
    parts = whole.split(tiers)
    nobody = _graded(trials.of(np.zeros(0, dtype=np.int64)))
    summed = {key: _totals(key, column, tiers) for key, column in used.items()}
    out = []
    for name in [*(order or sorted(names)), "overall"]:
        graded = whole if name == "overall" else parts.get(name, nobody)
        totals = {key: found.get(name) or _total(key, 0, 0, 0.0) for key, found in summed.items()}
        out.append(Tier(name, _full_pass(graded, how), _mean(graded, how), _repeat_spread(graded), totals))
    return tuple(out)


def _totals(name: str, amount: Column, tiers: Codes) -> dict[str, Estimate]:
    """The sum of a resource by tier, and under "overall" of all."""
    numbers, known = floats(name, amount, low=0.0)
    index, some = (tiers.index, numbers) if known.all() else (tiers.index[known], numbers[known])
    planned, valid, spent = (
        np.bincount(rows, weights=weights, minlength=tiers.size).tolist()
        for rows, weights in ((tiers.index, None), (index, None), (index, some))
    )
    found = dict(zip(tiers.names(), zip(planned, valid, spent, strict=True), strict=True))
    found["overall"] = len(numbers), len(some), float(some.sum())
    return {tier: _total(name, *each) for tier, each in found.items()}


def _total(name: str, planned: int, known: int, spent: float) -> Estimate:
    """Where some amounts are unknown their sum is a lower bound, and the counts say how many."""
    counts = Counts(planned, known, ungraded=planned - known)
    unit = Unit.USD if "cost" in name else Unit.NUMBER
    if not known:
        reason = f"no trial has a known {name}" if planned else "nothing was planned"
        return Estimate(name, None, counts, unit=unit, reason=reason)
    lower = "" if known == planned else f"{counts.ungraded} trials without a known {name}: a lower bound"
    return Estimate(name, spent, counts, unit=unit).noting(lower)


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
    everyone = Codes(np.broadcast_to(np.int64(0), len(late)), pl.Series(["overall"]))
    groups = everyone if by is None else codes("by", by)
    runs = _Runs.of(trials, (numbers, valid), (late, known), groups, how)
    labels = sorted((name, place) for place, name in enumerate(groups.names()) if name != "overall")
    return {name: runs.timeouts(place) for name, place in [*labels, ("overall", None)]}


_LATE, _EARLY, _UNKNOWN = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs as the unit, with intervals that follow when the tasks they share are resampled. They are counted once, by
    part (whether they were late, and their group) and task: cell c is of part `part[c]` and task `task[c]`, and has
    `runs[c]` runs, of which `graded[c]` have a score, `total[c]` in sum.
    """

    part: Ints
    task: Ints
    runs: Ints
    graded: Ints
    total: Floats
    squares: Floats
    """Per part, of the scores."""
    counts: list[Counts]
    """Per part."""
    sizes: tuple[int, int]
    """How many groups there are, and tasks."""
    shared: bool
    """Whether runs can share a task."""
    how: Resampling

    @classmethod
    def of(
        cls,
        trials: Trials,
        scores: tuple[Floats, Flags],
        lateness: tuple[Flags, Flags],
        groups: Codes,
        how: Resampling,
    ) -> _Runs:
        (numbers, valid), (late, known) = scores, lateness
        size, parts = groups.size, 3 * groups.size
        part = np.where(late, _LATE, _EARLY)
        if not known.all():
            part[~known] = _UNKNOWN
        part *= size
        part += groups.index
        counts = group_counts(part, parts, valid, trials.state)
        task = None if trials.task is None else codes("task", trials.task)
        rows = len(part)
        tasks = max(rows if task is None else task.size, 1)
        if not valid.all():
            numbers = np.where(valid, numbers, 0.0)
        squares = np.bincount(part, weights=numbers * numbers, minlength=parts).astype(np.float64)
        if task is None:
            keys, cell = part * rows + np.arange(rows), np.arange(rows)
        elif parts * tasks <= rows:
            # Few cells for the rows: those without a run are left out once they are counted.
            part *= tasks
            part += task.index
            keys, cell = np.arange(parts * tasks), part
        else:
            cell, keys = pair_codes(part, task.index, (parts, task.size))
        runs = np.bincount(cell, minlength=len(keys))
        graded = runs if valid.all() else np.bincount(cell[valid], minlength=len(keys))
        total = np.bincount(cell, weights=numbers, minlength=len(keys)).astype(np.float64)
        if not (some := runs > 0).all():
            keys, runs, graded, total = keys[some], runs[some], graded[some], total[some]
        return cls(
            keys // tasks, keys % tasks, runs, graded, total, squares, counts, (size, tasks), task is not None, how
        )

    def timeouts(self, group: int | None) -> Timeouts:
        """Of one group, or of all."""
        late, early, unknown = (self._cells(side, group) for side in (_LATE, _EARLY, _UNKNOWN))
        means = self._mean("timeout score", late, _LATE, group), self._mean("other score", early, _EARLY, group)
        return Timeouts(self._share(late, early, unknown), *means)

    def _parts(self, side: int, group: int | None) -> slice:
        first = side * self.sizes[0]
        return slice(first, first + self.sizes[0]) if group is None else slice(first + group, first + group + 1)

    def _cells(self, side: int, group: int | None) -> Flags:
        parts = self._parts(side, group)
        return np.asarray((self.part >= parts.start) & (self.part < parts.stop))

    def _by(self, cells: Flags, amount: Floats | Ints) -> Floats:
        """Sums per task."""
        return np.bincount(self.task[cells], weights=amount[cells], minlength=self.sizes[1]).astype(np.float64)

    def _share(self, late: Flags, early: Flags, unknown: Flags) -> Estimate:
        hits, others, ungraded = (int(self.runs[cells].sum()) for cells in (late, early, unknown))
        counts = Counts(hits + others + ungraded, hits + others, ungraded=ungraded)
        plain = share("timeout rate", hits, counts, level=self.how.level)
        if not self.shared or not counts.valid:
            return plain
        above = self._by(late, self.runs)
        return self._by_task(plain, above, above + self._by(early, self.runs), 1.0)

    def _mean(self, name: str, cells: Flags, side: int, group: int | None) -> Estimate:
        parts = self._parts(side, group)
        counts = sum_counts(self.counts[parts])
        if not counts.valid:
            return Estimate(name, None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
        below = self._by(cells, self.graded)
        total = self._by(cells, self.total)
        if int(below.max()) == 1:
            values = total[below > 0]
            return mean_within(name, independent(len(values)), values, counts, self.how)
        given = (LEFT_OUT,) if counts.valid < counts.planned else ()
        counts, value = counts.having(tasks=int((below > 0).sum())), float(total.sum()) / counts.valid
        value = min(max(value, 0.0), 1.0)
        plain = Estimate(name, value, counts, unit=Unit.SHARE, conditional_on=given)
        alike = units.alike(value, float(self.squares[parts].sum()) / counts.valid)
        return self._by_task(plain, total, below, alike)

    def _by_task(self, plain: Estimate, above: Floats, below: Floats, alike: float) -> Estimate:
        some = below > 0
        if int(some.sum()) == int(below.sum()):
            return plain
        ends, note = units.share(above[some] / below[some], self.how.level, weight=below[some], alike=alike)
        return replace(plain, **ends._asdict(), notes=(note,) if note else ())
