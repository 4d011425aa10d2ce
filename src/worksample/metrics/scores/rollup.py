"""Scores averaged level by level: from instances to tasks, subdomains and domains (ALE C.3.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    floats,
    narrow,
    same_length,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling

from .shares_and_means import LEFT_OUT, group_counts, nothing_valid, valid_rows, worst_and_best

_POOL = 4
"""Number of units for which the variance over all strata counts when it is combined with the variance within one
stratum.
"""


def roll_up(
    score: Column,
    levels: Mapping[str, Column],
    *,
    state: Column | None = None,
    failed: Column | None = None,
    how: Resampling = DEFAULT,
) -> dict[str, dict[str, Estimate]]:
    """Return the score of every group on every level. A group's score is the plain mean of the scores of its groups on
    the next finer level.

    `levels` maps names to columns, finest level first, such as instance, task, subdomain, domain. Each group must
    belong to a single group of the next level; otherwise UsageError is raised. `score` is in 0..1 with one row per
    trial; rows with the same group on the finest level are repeats. The last key of the result is "all": the mean over
    the coarsest groups.

    Groups without a valid trial have no value and do not lower other groups. In the `bounds`, rows that are not valid
    count 0 in the lower bound and 1 in the upper bound; rows flagged in `failed` count 0 in both. Intervals are over
    tasks if a level is called "task", otherwise over the finest groups. Each group above keeps its weight.
    """
    same_length(score=score, state=state, **levels)
    if not levels:
        raise UsageError("no level was passed", next='pass levels such as {"instance": ..., "task": ...}')
    numbers, present = floats("score", score, low=0, high=1)
    valid, _ = valid_rows("score", present, state)
    coded = {name: codes(name, column) for name, column in levels.items()}
    chain = list(coded)
    parents = {fine: _parents(fine, coded[fine], coarse, coded[coarse]) for fine, coarse in pairwise(chain)}
    cases = _cases(numbers, valid, failed)
    finest = coded[chain[0]]
    means = [_means(finest.index, values, rows, finest.size) for values, rows in cases]
    out: dict[str, dict[str, Estimate]] = {}
    whole = Codes(np.zeros(len(numbers), dtype=np.int64), pl.Series(["all"] if len(numbers) else [], dtype=pl.String))
    columns = _Trials(numbers, valid, state, {**coded, "all": whole}, means[0], how)
    for place, name in enumerate(chain):
        out[name] = columns.groups(name, means)
        above = parents.get(name)
        size = coded[chain[place + 1]].size if above is not None else 1
        below = above if above is not None else np.zeros(len(means[0]), dtype=np.int64)
        means = [_means(below, each, ~np.isnan(each), size) for each in means]
    out["all"] = columns.groups("all", means) if len(numbers) else {"all": _nothing()}
    return out


def _cases(numbers: Floats, valid: Flags, failed: Column | None) -> list[tuple[Floats, Flags]]:
    """Return scores with the flags of the rows that count: the observed case and, if not all rows are valid, the worst
    and the best case.
    """
    if valid.all():
        return [(numbers, valid)]
    every = np.ones(len(valid), dtype=bool)
    return [(numbers, valid), *((end, every) for end in worst_and_best(numbers, valid, failed))]


def _nothing() -> Estimate:
    return Estimate("all", None, Counts(0, 0), unit=Unit.SHARE, reason="nothing was planned")


def _means(group: Ints, values: Floats, rows: Flags, size: int) -> Floats:
    """Return the mean of each group over the flagged rows; NaN for a group without such rows."""
    if not rows.all():
        group, values = group[rows], values[rows]
    count = np.bincount(group, minlength=size)
    total = np.bincount(group, weights=values, minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _parents(fine: str, below: Codes, coarse: str, above: Codes) -> Ints:
    parent = np.zeros(below.size, dtype=np.int64)
    parent[below.index] = above.index
    if (wrong := parent[below.index] != above.index).any():
        name = below.labels[int(below.index[np.flatnonzero(wrong)[0]])]
        raise UsageError(
            f"{fine} {name} belongs to several values of {coarse}",
            where=f"column {coarse!r}",
            next=f"give it a different name in each {coarse}, such as {coarse.upper()}/{name}",
        )
    return parent


class _Trials:
    """The rows behind each group, from which its counts and its interval are computed. Each level is read once for all
    of its groups.
    """

    def __init__(
        self,
        numbers: Floats,
        valid: Flags,
        state: Column | None,
        coded: dict[str, Codes],
        finest: Floats,
        how: Resampling,
    ) -> None:
        self.numbers, self.valid, self.state, self.coded, self.how = numbers, valid, state, coded, how
        self.finest = finest
        """Mean score of each group on the finest level."""
        self._spreads: dict[str, Floats] = {}
        self._above: dict[tuple[str, str], Ints] = {}

    def groups(self, level: str, means: Sequence[Floats]) -> dict[str, Estimate]:
        of = self.coded[level]
        counts = group_counts(of.index, of.size, self.valid, self.state)
        units_of = self._units(level)
        alike = np.ones(of.size) if units_of is None else self._alike(of)
        names = of.names()
        out = {}
        for place in sorted(range(of.size), key=lambda i: names[i]):
            label = f"{level} {names[place]}" if level != "all" else "all"
            found = self._group(label, counts[place], float(means[0][place]))
            if found.value is not None and units_of is not None:
                ends, note = self._interval(level, units_of(place), float(alike[place]))
                found = replace(found, **ends._asdict()).noting(note)
            if len(means) > 1 and (counts[place].valid < counts[place].planned or counts[place].special):
                found = replace(found, bounds=(float(means[1][place]), float(means[2][place])))
            out[names[place]] = found
        return out

    def _alike(self, of: Codes) -> Floats:
        """Return `unit_intervals.zero_or_one` of the valid scores in each group."""
        index, values = of.index, self.numbers
        if not self.valid.all():
            index, values = index[self.valid], values[self.valid]
        if of.size == 1:
            return np.full(1, units.zero_or_one(values) if len(values) else 1.0)
        count = np.maximum(np.bincount(index, minlength=of.size), 1)
        mean, square = (
            np.bincount(index, weights=each, minlength=of.size) / count for each in (values, values * values)
        )
        return np.array([units.alike(*both) for both in zip(mean.tolist(), square.tolist(), strict=True)])

    def _group(self, label: str, counts: Counts, value: float) -> Estimate:
        if np.isnan(value):
            return Estimate(label, None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
        given = (LEFT_OUT,) if counts.valid < counts.planned else ()
        return Estimate(label, value, counts, unit=Unit.SHARE, conditional_on=given)

    def _chain(self, level: str) -> tuple[str, tuple[str, ...]]:
        """Return the unit of a level's intervals ("" if the level has no intervals), and the levels between that unit
        and the level.
        """
        chain = [name for name in self.coded if name != "all"]
        at = chain.index(level) if level in chain else len(chain)
        unit = "task" if "task" in chain[:at] else chain[0] if at else ""
        return unit, tuple(chain[chain.index(unit) + 1 : at]) if unit else ()

    def _units(self, level: str) -> Callable[[int], Ints] | None:
        """Return a function that gives the units with a valid trial in a group of this level. Return None if the level
        has no intervals.
        """
        unit, _ = self._chain(level)
        if not unit:
            return None
        parent = self._parent(unit, level)
        graded = np.flatnonzero(~np.isnan(self._tasks[unit][0]))
        size = self.coded[level].size
        inside = graded[np.argsort(narrow(parent[graded], size), kind="stable")]
        ends = np.concatenate([[0], np.cumsum(np.bincount(parent[graded], minlength=size))])
        return lambda place: inside[ends[place] : ends[place + 1]]

    def _parent(self, fine: str, coarse: str) -> Ints:
        """Return, for each group of the finer level, its group on the coarser level."""
        key = fine, coarse
        if key not in self._above:
            below, above = self.coded[fine], self.coded[coarse]
            single = above.size == 1
            self._above[key] = np.zeros(below.size, dtype=np.int64) if single else _parents(fine, below, coarse, above)
        return self._above[key]

    def _interval(self, level: str, here: Ints, alike: float) -> tuple[Interval, str]:
        unit, between = self._chain(level)
        task, _ = self._tasks[unit]
        if not between:
            return units.share(task[here], self.how.level, alike=alike)
        paths = np.stack([self._parent(unit, name)[here] for name in between])
        weight = _weights(paths)
        variance = self._variances(between[0], unit)[paths[0]]
        ends, note = units.stratified_share(
            float(weight @ task[here]), float((weight**2 * variance).sum()), weight, self.how.level, alike=alike
        )
        single = int((np.unique(paths[0], return_counts=True)[1] == 1).sum())
        lonely = f"{single} values of {between[0]} hold one {unit}: their variance is taken from the others"
        return ends, "; ".join(text for text in (note, lonely if single else "") if text)

    @cached_property
    def _tasks(self) -> dict[str, tuple[Floats, Ints]]:
        """Return, for each level that can be the unit of intervals, the mean score of each of its groups and the group
        of each row.
        """
        chain = list(self.coded)
        out = {chain[0]: (self.finest, self.coded[chain[0]].index)}
        for fine, coarse in pairwise(chain[: chain.index("task") + 1] if "task" in chain else []):
            means, _ = out[fine]
            above, of = self._parent(fine, coarse), self.coded[coarse]
            out[coarse] = _means(above, means, ~np.isnan(means), of.size), of.index
        return out

    def _variances(self, stratum: str, unit: str) -> Floats:
        """Return, for each stratum, the variance between its units.

        A stratum with many units uses mainly its own variance. The variance of a stratum with few units is combined
        with the variance over all strata, as if the latter came from four additional units (partial pooling). If no
        stratum has two units, the variance around the overall mean is used.
        """
        if stratum not in self._spreads:
            task, _ = self._tasks[unit]
            parent = self._parent(unit, stratum)
            there = ~np.isnan(task)
            size = self.coded[stratum].size
            means = _means(parent, task, there, size)
            many = np.bincount(parent[there], minlength=size)
            apart = np.where(there, task - means[parent], 0.0) ** 2
            squares, free = np.bincount(parent, weights=apart, minlength=size), np.maximum(many - 1, 0)
            if free.sum():
                pooled = float(squares.sum() / free.sum())
            else:
                pooled = float(np.nanvar(task, ddof=1)) if there.sum() > 1 else 0.0
            self._spreads[stratum] = (squares + _POOL * pooled) / (free + _POOL)
        return self._spreads[stratum]


def _weights(paths: Ints) -> Floats:
    """Return the weight of each unit in a mean of means. `paths` contains each unit's group on each level, finest level
    first.
    """
    weight = np.ones(paths.shape[1])
    groups = np.arange(paths.shape[1])
    for level in (*paths, np.zeros(paths.shape[1], dtype=np.int64)):
        pairs = np.unique(np.stack([groups, level]), axis=1)
        members = dict(zip(*np.unique(pairs[1], return_counts=True), strict=True))
        weight /= np.array([members[group] for group in level])
        groups = level
    return weight
