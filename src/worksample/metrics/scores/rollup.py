"""Scores rolled up level by level: instance -> task -> subdomain -> domain (ALE C.3.7)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.columns import Codes, Column, Flags, Floats, Ints, codes, floats, narrow, same_length, series
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling, resampled
from worksample.metrics.uncertainty.hierarchy import hierarchy
from worksample.metrics.uncertainty.intervals import percentiles

from .rates import LEFT_OUT, mean_interval, nothing_valid, valid_rows

_SMALL = 8


def roll_up(
    score: Column,
    levels: Mapping[str, Column],
    *,
    state: Column | None = None,
    how: Resampling = DEFAULT,
) -> dict[str, dict[str, Estimate]]:
    """Per level its groups' scores, each the plain mean of the groups just below it.

    `levels`, finest first, such as instance, task, subdomain, domain; a group belongs to one group of the next level
    (UsageError otherwise). `score` in 0..1, one row per trial; rows of one finest group are repeats. The last key of
    the result is "all": the mean over the coarsest groups. Groups without a valid trial have no value and do not pull
    others down. Intervals of groups resample tasks and below where a level is called "task", else the finest groups.
    """
    same_length(score=score, state=state, **levels)
    if not levels:
        raise UsageError("no level given", next='pass levels such as {"instance": ..., "task": ...}')
    numbers, present = floats("score", score, low=0, high=1)
    valid, _ = valid_rows("score", present, state)
    coded = {name: codes(name, column) for name, column in levels.items()}
    chain = list(coded)
    parents = {fine: _parents(fine, coded[fine], coarse, coded[coarse]) for fine, coarse in pairwise(chain)}
    means = _means(coded[chain[0]].index, numbers, valid, coded[chain[0]].size)
    out: dict[str, dict[str, Estimate]] = {}
    columns = _Trials(numbers, valid, state, coded, how)
    for place, name in enumerate(chain):
        out[name] = columns.groups(name, means)
        above = parents.get(name)
        size = coded[chain[place + 1]].size if above is not None else 1
        below = above if above is not None else np.zeros(len(means), dtype=np.int64)
        means = _means(below, means, ~np.isnan(means), size)
    whole = codes("all", np.zeros(len(numbers), dtype=np.int64))
    top = _Trials(numbers, valid, state, {**coded, "all": whole}, how).groups("all", means) if len(numbers) else {}
    out["all"] = {"all": next(iter(top.values()))} if top else {"all": _nothing()}
    return out


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

    def groups(self, level: str, means: Floats) -> dict[str, Estimate]:
        of = self.coded[level]
        order = np.argsort(narrow(of.index, of.size), kind="stable")
        ends = np.cumsum(np.bincount(of.index, minlength=of.size))
        names = of.names()
        out = {}
        for place in sorted(range(of.size), key=lambda i: names[i]):
            rows = order[ends[place - 1] if place else 0 : ends[place]]
            out[names[place]] = self._group(level, names[place], rows, float(means[place]))
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
        low, high, method, note = self._interval(level, kept)
        given = (LEFT_OUT,) if counts.valid < counts.planned else ()
        level_ = None if low is None and high is None else self.how.level
        return Estimate(label, value, counts, low, high, level_, method, Unit.SHARE, conditional_on=given).noting(note)

    def _interval(self, level: str, rows: Ints) -> tuple[float | None, float | None, str, str]:
        chain = [name for name in self.coded if name != "all"]
        at = chain.index(level) if level in chain else len(chain)
        unit = "task" if "task" in chain[:at] else chain[0] if at else ""
        if not unit:
            return None, None, "", ""
        between = chain[chain.index(unit) + 1 : at]
        if not between:
            inner = chain[0] if unit != chain[0] else None
            h = hierarchy(self.coded[unit].index[rows], None if inner is None else self.coded[inner].index[rows])
            return mean_interval(h, self.numbers[rows], self.how, Unit.SHARE)
        return self._stratified(unit, between, rows)

    def _stratified(self, unit: str, between: list[str], rows: Ints) -> tuple[float | None, float | None, str, str]:
        """Tasks are resampled within their subdomains, which stay: every subdomain keeps its weight."""
        index, inverse = np.unique(self.coded[unit].index[rows], return_inverse=True)
        finest = self.coded[next(iter(self.coded))].index[rows]
        _, fine = np.unique(finest, return_inverse=True)
        instance = _means(fine, self.numbers[rows], np.ones(len(rows), dtype=bool), int(fine.max()) + 1)
        of = np.zeros(len(instance), dtype=np.int64)
        of[fine] = inverse
        task = _means(of, instance, np.ones(len(instance), dtype=bool), len(index))
        paths = np.zeros((len(between), len(index)), dtype=np.int64)
        for depth, name in enumerate(between):
            paths[depth, inverse] = self.coded[name].index[rows]
        drawn = self._draw(task, paths[0], unit)
        strata = np.unique(paths[0])
        above = paths[:, [int(np.flatnonzero(paths[0] == s)[0]) for s in strata]]
        for depth in range(1, len(between)):
            groups = np.unique(above[depth])
            drawn = np.stack([drawn[:, above[depth] == g].mean(axis=1) for g in groups], axis=1)
            above = above[:, [int(np.flatnonzero(above[depth] == g)[0]) for g in groups]]
        low, high = percentiles(drawn.mean(axis=1), self.how.level)
        sizes = np.array([(paths[0] == s).sum() for s in strata])
        single = int((sizes == 1).sum())
        if low is None or high is None or high - low < 1e-12:
            alone = single == len(sizes)
            why = f"every value of {between[0]} holds one {unit}" if alone else "the bootstrap has no width"
            return None, None, "", f"{why}: no interval"
        note = (
            f"{single} of {len(sizes)} values of {between[0]} hold one {unit}, which the interval takes as fixed"
            if single
            else ""
        )
        return low, high, f"bootstrap over {unit}s within {between[0]} ({self.how.resamples})", note

    def _draw(self, task: Floats, stratum: Ints, unit: str) -> Floats:
        columns = []
        for place, s in enumerate(np.unique(stratum)):
            values = task[stratum == s]
            how = Resampling(self.how.resamples, self.how.level, self.how.seed + place)
            if len(values) == 1:
                columns.append(np.full(self.how.resamples, values[0]))
            elif len(values) < _SMALL:
                picks = how.rng().integers(0, len(values), size=(how.resamples, len(values)))
                columns.append(values[picks].mean(axis=1))
            else:
                columns.append(resampled(values[:, None], unit, how).sums[:, 0] / len(values))
        return np.stack(columns, axis=1)
