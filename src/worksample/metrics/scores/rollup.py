"""Scores rolled up level by level: instance -> task -> subdomain -> domain (ALE C.3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

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
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling

from .rates import LEFT_OUT, nothing_valid, valid_rows

_POOL = 4
"""How many units the variance of all strata counts for in that of one."""


def roll_up(
    score: Column,
    levels: Mapping[str, Column],
    *,
    state: Column | None = None,
    failed: Column | None = None,
    how: Resampling = DEFAULT,
) -> dict[str, dict[str, Estimate]]:
    """Per level its groups' scores, each the plain mean of the groups just below it.

    `levels`, finest first, such as instance, task, subdomain, domain; a group belongs to one group of the next level
    (UsageError otherwise). `score` in 0..1, one row per trial; rows of one finest group are repeats. The last key of
    the result is "all": the mean over the coarsest groups. Groups without a valid trial have no value and do not pull
    others down; in the `bounds` what is not valid is 0, or 1 unless it can only be 0 (`failed`). Intervals
    take tasks as units where a level is called "task", else the finest groups; each group above keeps its weight.
    """
    same_length(score=score, state=state, **levels)
    if not levels:
        raise UsageError("no level given", next='pass levels such as {"instance": ..., "task": ...}')
    numbers, present = floats("score", score, low=0, high=1)
    valid, _ = valid_rows("score", present, state)
    coded = {name: codes(name, column) for name, column in levels.items()}
    chain = list(coded)
    parents = {fine: _parents(fine, coded[fine], coarse, coded[coarse]) for fine, coarse in pairwise(chain)}
    cases = _cases(numbers, valid, failed)
    finest = coded[chain[0]]
    means = [_means(finest.index, values, rows, finest.size) for values, rows in cases]
    out: dict[str, dict[str, Estimate]] = {}
    columns = _Trials(numbers, valid, state, coded, how)
    for place, name in enumerate(chain):
        out[name] = columns.groups(name, means)
        above = parents.get(name)
        size = coded[chain[place + 1]].size if above is not None else 1
        below = above if above is not None else np.zeros(len(means[0]), dtype=np.int64)
        means = [_means(below, each, ~np.isnan(each), size) for each in means]
    whole = codes("all", np.zeros(len(numbers), dtype=np.int64))
    top = _Trials(numbers, valid, state, {**coded, "all": whole}, how).groups("all", means) if len(numbers) else {}
    out["all"] = {"all": next(iter(top.values()))} if top else {"all": _nothing()}
    return out


def _cases(numbers: Floats, valid: Flags, failed: Column | None) -> list[tuple[Floats, Flags]]:
    """Scores and the rows that count: as they are, then, where not all is valid, in the worst and the best case."""
    if valid.all():
        return [(numbers, valid)]
    every, worst = np.ones(len(valid), dtype=bool), np.where(valid, numbers, 0.0)
    open_ = ~valid if failed is None else ~valid & ~flags("failed", failed)[0]
    return [(numbers, valid), (worst, every), (np.where(open_, 1.0, worst), every)]


def _nothing() -> Estimate:
    return Estimate("all", None, Counts(0, 0), unit=Unit.SHARE, reason="nothing was planned")


def _means(group: Ints, values: Floats, rows: Flags, size: int) -> Floats:
    """Means per group over `rows`, NaN for a group without any."""
    count = np.bincount(group[rows], minlength=size)
    total = np.bincount(group[rows], weights=values[rows], minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _parents(fine: str, below: Codes, coarse: str, above: Codes) -> Ints:
    parent = np.zeros(below.size, dtype=np.int64)
    parent[below.index] = above.index
    if (wrong := parent[below.index] != above.index).any():
        name = below.labels[int(below.index[np.flatnonzero(wrong)[0]])]
        raise UsageError(f"{fine} {name} belongs to several values of {coarse}", where=f"column {coarse!r}")
    return parent


class _Trials:
    """The rows behind each group, for its counts and its interval."""

    def __init__(
        self,
        numbers: Floats,
        valid: Flags,
        state: Column | None,
        coded: dict[str, Codes],
        how: Resampling,
    ) -> None:
        self.numbers, self.valid, self.coded, self.how = numbers, valid, coded, how
        self.state = None if state is None else series("state", state).cast(pl.String)
        self._spreads: dict[str, Floats] = {}

    def groups(self, level: str, means: Sequence[Floats]) -> dict[str, Estimate]:
        of = self.coded[level]
        order = np.argsort(narrow(of.index, of.size), kind="stable")
        ends = np.cumsum(np.bincount(of.index, minlength=of.size))
        names = of.names()
        out = {}
        for place in sorted(range(of.size), key=lambda i: names[i]):
            rows = order[ends[place - 1] if place else 0 : ends[place]]
            found = self._group(level, names[place], rows, float(means[0][place]))
            if len(means) > 1 and not self.valid[rows].all():
                found = replace(found, bounds=(float(means[1][place]), float(means[2][place])))
            out[names[place]] = found
        return out

    def _group(self, level: str, name: str, rows: Ints, value: float) -> Estimate:
        here = self.valid[rows]
        if self.state is None:
            counts = Counts(len(rows), int(here.sum()), ungraded=int((~here).sum()))
        else:
            _, counts = valid_rows("score", here, self.state.gather(rows))
        label = f"{level} {name}" if level != "all" else "all"
        if np.isnan(value):
            return Estimate(label, None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
        kept = rows[here]
        ends, note = self._interval(level, kept)
        given = (LEFT_OUT,) if counts.valid < counts.planned else ()
        return Estimate(label, value, counts, *ends, Unit.SHARE, conditional_on=given).noting(note)

    def _interval(self, level: str, rows: Ints) -> tuple[Interval, str]:
        chain = [name for name in self.coded if name != "all"]
        at = chain.index(level) if level in chain else len(chain)
        unit = "task" if "task" in chain[:at] else chain[0] if at else ""
        if not unit:
            return Interval(), ""
        task, of = self._tasks[unit]
        here, first = np.unique(of[rows], return_index=True)
        between = chain[chain.index(unit) + 1 : at]
        alike = units.zero_or_one(self.numbers[rows])
        if not between:
            return units.share(task[here], self.how.level, alike=alike)
        paths = np.stack([self.coded[name].index[rows[first]] for name in between])
        weight = _weights(paths)
        variance = self._variances(between[0], unit)[paths[0]]
        ends, note = units.stratified(
            float(weight @ task[here]), float((weight**2 * variance).sum()), weight, self.how.level, alike=alike
        )
        single = int((np.unique(paths[0], return_counts=True)[1] == 1).sum())
        lonely = f"{single} values of {between[0]} hold one {unit}: their variance is that within the others"
        return ends, "; ".join(text for text in (note, lonely if single else "") if text)

    @cached_property
    def _tasks(self) -> dict[str, tuple[Floats, Ints]]:
        """Per level that can be the unit: the mean of each of its values, from the finest groups up, and which value
        each row belongs to.
        """
        chain = list(self.coded)
        finest = self.coded[chain[0]]
        out = {chain[0]: (_means(finest.index, self.numbers, self.valid, finest.size), finest.index)}
        for fine, coarse in pairwise(chain[: chain.index("task") + 1] if "task" in chain else []):
            below, (means, _) = self.coded[fine], out[fine]
            above = _parents(fine, below, coarse, self.coded[coarse])
            of = self.coded[coarse]
            out[coarse] = _means(above, means, ~np.isnan(means), of.size), of.index
        return out

    def _variances(self, stratum: str, unit: str) -> Floats:
        """Per stratum the variance between its units: its own where it has many, that of all strata together where it
        has few (partial pooling, as if the latter came from four units more). Without any stratum of two, the variance
        around the mean of all.
        """
        if stratum not in self._spreads:
            task, _ = self._tasks[unit]
            parent = _parents(unit, self.coded[unit], stratum, self.coded[stratum])
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
    """What each unit counts in a mean of means: `paths` says to which group of each level, finest first, it belongs."""
    weight = np.ones(paths.shape[1])
    groups = np.arange(paths.shape[1])
    for level in (*paths, np.zeros(paths.shape[1], dtype=np.int64)):
        pairs = np.unique(np.stack([groups, level]), axis=1)
        members = dict(zip(*np.unique(pairs[1], return_counts=True), strict=True))
        weight /= np.array([members[group] for group in level])
        groups = level
    return weight
