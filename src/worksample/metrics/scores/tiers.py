"""Full-pass rate and mean score by tier and over all tiers, with repeats and resources (ALE 4.1, Table 1).

All functions take the trials of one agent, one row per trial. Rows with the same task and instance are repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    count_flags,
    floats,
    narrow,
    pick_rows,
    same_length,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.trial_hierarchy import Hierarchy, independent
from worksample.records import is_full

from .shares_and_means import (
    UNWIELDY,
    exact_mean,
    group_counts,
    mean_of_tasks,
    nothing_valid,
    share,
    structure,
    valid_rows,
    worst_and_best,
)


@dataclass(frozen=True, slots=True)
class TrialColumns:
    """Columns of one agent's trials.

    `score` is in 0..1, null if the trial has no score; `state` then says why. All other columns are optional. Without
    `task` each row is a separate task.
    """

    score: Column
    task: Column | None = None
    instance: Column | None = None
    state: Column | None = None
    failed: Column | None = None
    """Flag per row: true if the trial has no score and can only fail. It counts 0 in both bounds."""

    def of(self, rows: Ints) -> TrialColumns:
        """Return the columns with only the rows at these positions."""
        columns = (self.score, self.task, self.instance, self.state, self.failed)
        return TrialColumns(*(None if c is None else pick_rows(c, rows) for c in columns))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return same_length(score=self.score, task=self.task, instance=self.instance, state=self.state)


@dataclass(frozen=True)
class _Graded:
    """Valid scores with their hierarchy and their means by task, computed once for all figures."""

    values: Floats
    h: Hierarchy
    valid: Flags
    trials: TrialColumns

    @cached_property
    def credit(self) -> Floats:
        """1 for each valid score that is the full score, 0 for each other valid score."""
        return np.asarray(is_full(self.values), dtype=np.float64)

    @cached_property
    def score(self) -> Floats:
        """The mean score of each task."""
        return self.h.task_means(self.values)

    @cached_property
    def full(self) -> Floats:
        """The mean credit of each task: the share of its trials with the full score."""
        return self.h.task_means(self.credit)


def _read_grades(trials: TrialColumns) -> _Graded:
    numbers, present = floats("score", trials.score, low=0, high=1)
    same_length(score=trials.score, state=trials.state, task=trials.task, instance=trials.instance)
    valid, _ = valid_rows("score", present, trials.state)
    h = structure(trials.task, trials.instance, valid) if valid.any() else independent(0)
    return _Graded(numbers if valid.all() else numbers[valid], h, valid, trials)


class _Groups:
    """Groups of graded trials, such as tiers. Values that belong to a task are computed once for all groups."""

    def __init__(self, graded: _Graded, groups: Codes) -> None:
        self.groups = groups
        self.counts = group_counts(groups.index, groups.size, graded.valid, graded.trials.state)
        every = graded.valid.all()
        self.gaps = [0] * groups.size if every else np.bincount(groups.index[~graded.valid], minlength=groups.size)
        self.h, self.of = graded.h.split_by_group(groups.index if every else groups.index[graded.valid], groups.size)
        self.graded = graded if self.h is graded.h else replace(graded, h=self.h)

    @classmethod
    def everyone(cls, graded: _Graded) -> _Groups:
        """Build a single group of all trials."""
        return cls(graded, Codes(np.broadcast_to(np.int64(0), len(graded.valid)), pl.Series(["overall"])))

    def full_pass(self, place: int, how: Resampling) -> Estimate:
        counts = self.counts[place]
        means = self._full[place]
        if len(means) == counts.valid:
            # Every task occurs once: trials are independent.
            found = share("full pass", int(means.sum()), counts, level=how.level)
        else:
            exact = self._exact(place, len(means))
            found = replace(mean_of_tasks("full pass", means, 1.0, counts, how), exact=exact)
        return replace(found, bounds=self._bounds(place, self.graded.credit))

    def mean(self, place: int, how: Resampling) -> Estimate:
        counts = self.counts[place]
        if not counts.valid:
            return Estimate("mean score", None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
        found = mean_of_tasks("mean score", self._score[place], self._alike[place], counts, how)
        return replace(found, bounds=self._bounds(place, self.graded.values))

    def spread(self, place: int) -> Spread:
        """Return the spread of repeats in one group, and the variance of each instance with several repeats."""
        counts = self.counts[place]
        if not counts.valid:
            return _no_spread(counts, nothing_valid(counts))
        if self.h.single:
            counts = counts.having(instances=counts.valid, repeated_instances=0)
            return _no_spread(counts, "no instance has two valid runs")
        squares, repeats, siblings = self._instances(place, self._squares, self.h.repeats, self.h.siblings)
        repeated = repeats >= 2
        counts = counts.having(instances=len(repeats), repeated_instances=count_flags(repeated))
        if not repeated.any():
            return _no_spread(counts, "no instance has two valid runs")
        variance = squares[repeated] / (repeats[repeated] - 1)
        pooled, tasks = float(variance.mean()), len(self._score[place])
        each = np.full(len(repeats), pooled)
        each[repeated] = variance
        whole, error = (float(np.sqrt((part / siblings**2).sum()) / tasks) for part in (each, each / repeats))
        alone = count_flags(~repeated)
        note = f"{alone} instances with one run are included with the pooled deviation" if alone else ""
        return Spread(
            Estimate("run sd", float(np.sqrt(pooled)), counts, unit=Unit.SPREAD),
            Estimate("sd of run means", whole, counts, unit=Unit.SPREAD).noting(note),
            Estimate("sd of the mean score", error, counts, unit=Unit.SPREAD).noting(note),
        )

    @cached_property
    def _squares(self) -> Floats:
        """The sum of squared distances of each instance's scores from their mean."""
        values = self.graded.values
        return self.h.within((values - self.h.instance_means(values)[self.h.cell]) ** 2)

    def _by_group(self, of: Ints, means: Floats) -> list[Floats]:
        """Return the means of the tasks in each group."""
        if self.groups.size == 1:
            return [means]
        order = np.argsort(narrow(of, self.groups.size), kind="stable")
        return np.split(means[order], np.cumsum(np.bincount(of, minlength=self.groups.size))[:-1])

    @cached_property
    def _full(self) -> list[Floats]:
        return self._by_group(self.of, self.graded.full)

    @cached_property
    def _score(self) -> list[Floats]:
        return self._by_group(self.of, self.graded.score)

    @cached_property
    def _alike(self) -> list[float]:
        """`unit_intervals.zero_or_one` of the scores in each group."""
        values, size, h = self.graded.values, self.groups.size, self.h
        if size == 1:
            return [units.zero_or_one(values)]
        score = self.graded.score * h.instances if h.single else h.across(h.within(values))
        sums = score, h.across(h.within(values * values))
        total, squares = (np.bincount(self.of, weights=each, minlength=size).tolist() for each in sums)
        valid = [max(of.valid, 1) for of in self.counts]
        return [units.alike(t / n, s / n) for t, s, n in zip(total, squares, valid, strict=True)]

    def _instances(self, place: int, *amounts: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the given values per instance, for the instances of one group."""
        mine = self.of[self.h.of] == place
        return [amount[mine] for amount in amounts]

    def _exact(self, place: int, tasks: int) -> Fraction | None:
        h = self.h
        if h.single and self.counts[place].valid > UNWIELDY:
            return None
        hits, repeats, siblings = self._instances(place, h.within(self.graded.credit), h.repeats, h.siblings)
        return exact_mean(hits, repeats, siblings, tasks)

    def _bounds(self, place: int, credit: Floats) -> tuple[float, float] | None:
        """Return the bounds of the mean credit in one group. Return None if all its trials are valid."""
        if not self.gaps[place]:
            return None
        valid, trials = self.graded.valid, self.graded.trials
        whole = np.zeros(len(valid))
        whole[valid] = credit
        h = structure(trials.task, trials.instance, np.ones(len(valid), dtype=bool))
        h, of = h.split_by_group(self.groups.index, self.groups.size)
        ends = (h.task_means(end) for end in worst_and_best(whole, valid, trials.failed))
        low, high = (float(self._by_group(of, means)[place].mean()) for means in ends)
        return low, high


def full_pass(trials: TrialColumns, how: Resampling = DEFAULT) -> Estimate:
    """Return the full-pass rate: the share of tasks with the full score.

    With repeats, a task's credit is the mean over its trials. The rate over all tiers is averaged over tasks; it is not
    the mean of the tiers' rates.
    """
    return _Groups.everyone(_read_grades(trials)).full_pass(0, how)


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of the scores of repeats.

    `run` is the standard deviation of a run's score around the mean of its instance, pooled over instances with at
    least two runs. `whole` is the standard deviation of the mean score of one run over all tasks (the superscript in
    ALE's Table 1). `mean` is the standard deviation of the mean score over all runs.
    """

    run: Estimate
    whole: Estimate
    mean: Estimate


def _no_spread(counts: Counts, reason: str) -> Spread:
    none = Estimate("run sd", None, counts, unit=Unit.SPREAD, reason=reason)
    return Spread(none, none.renamed_to("sd of run means"), none.renamed_to("sd of the mean score"))


def repeat_spread(trials: TrialColumns) -> Spread:
    """Return the spread of the scores of repeats, with unbiased variances per instance.

    The standard deviations have no value if no instance has two valid runs. Instances with a single run enter `mean`
    with the pooled deviation.
    """
    return _Groups.everyone(_read_grades(trials)).spread(0)


@dataclass(frozen=True, slots=True)
class TierBlock:
    """A block of rows of ALE's Table 1, for one tier or for all. `totals` contains the sum of each resource (cost in US
    dollars, seconds, tokens, ...).
    """

    name: str
    full_pass: Estimate
    score: Estimate
    spread: Spread
    totals: dict[str, Estimate]


def tier_table(
    trials: TrialColumns,
    tier: Column,
    resources: dict[str, Column] | None = None,
    order: tuple[str, ...] = (),
    how: Resampling = DEFAULT,
) -> tuple[TierBlock, ...]:
    """Return one `TierBlock` per tier and then "overall", which is computed over the tasks of all tiers. Tiers are in
    the order `order`, or sorted if no order is given.

    `resources` contains numbers per trial, 0 or more, null if unknown. Raises UsageError for a tier that is not in
    `order`.
    """
    used = resources or {}
    same_length(score=trials.score, tier=tier, **used)
    tiers = codes("tier", tier)
    names = tiers.names()
    if stray := sorted(set(names) - set(order)) if order else []:
        raise UsageError(
            f"the tier {stray[0]} is missing in `order`",
            where="column 'tier'",
            next=f"add it to order, or use one of {', '.join(order)}",
        )
    graded = _read_grades(trials)
    whole, parts = _Groups.everyone(graded), _Groups(graded, tiers)
    nobody = _Groups.everyone(_read_grades(trials.of(np.zeros(0, dtype=np.int64))))
    found = {**{name: (parts, place) for place, name in enumerate(names)}, "overall": (whole, 0)}
    summed = {key: _totals(key, column, tiers) for key, column in used.items()}
    out = []
    for name in [*(order or sorted(names)), "overall"]:
        of, place = found.get(name, (nobody, 0))
        totals = {key: known.get(name) or _total(key, 0, 0, 0.0) for key, known in summed.items()}
        out.append(TierBlock(name, of.full_pass(place, how), of.mean(place, how), of.spread(place), totals))
    return tuple(out)


def _totals(name: str, amount: Column, tiers: Codes) -> dict[str, Estimate]:
    """Return the total of a resource for each tier, and over all tiers under "overall"."""
    numbers, known = floats(name, amount, low=0.0)
    index, some = (tiers.index, numbers) if known.all() else (tiers.index[known], numbers[known])
    counts = group_counts(tiers.index, tiers.size, known, None)
    spent = np.bincount(index, weights=some, minlength=tiers.size).tolist()
    found = {name: (of.planned, of.valid, s) for name, of, s in zip(tiers.names(), counts, spent, strict=True)}
    found["overall"] = len(numbers), len(some), float(some.sum())
    return {tier: _total(name, *each) for tier, each in found.items()}


def _total(name: str, planned: int, known: int, spent: float) -> Estimate:
    """Return the total of a resource. If some trials' amounts are unknown, the total is a lower bound, and the counts
    say how many are unknown.
    """
    counts = Counts(planned, known, ungraded=planned - known)
    unit = Unit.USD if "cost" in name else Unit.NUMBER
    if not known:
        reason = f"no trial has a known {name}" if planned else "nothing was planned"
        return Estimate(name, None, counts, unit=unit, reason=reason)
    lower = "" if known == planned else f"{counts.ungraded} trials without a known {name}: a lower bound"
    return Estimate(name, spent, counts, unit=unit).noting(lower or "a total of amounts spent: no interval")
