"""Two agents on the same work: the paired difference, and what changed task by task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.metrics.columns import Codes, Floats, Ints, codes, floats, same_length, series
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.rates import valid_rows
from worksample.metrics.scores.tiers import Trials
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.intervals import normal_quantile, percentiles
from worksample.records import is_full

_BLOCK = 1_000_000
_DRAWS = 5_000_000
"""Up to this many drawn trials the bootstrap is simulated; beyond, its own variance in closed form is used."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`difference`: second minus first, the mean over common tasks. `instances`: instance by instance what changed:
    task, instance, first, second, difference, change (gained, lost, better, worse, same). `sign_test`: exact two-sided
    p of as lopsided a split of the tasks that differ, if neither agent were better.
    """

    difference: Estimate
    sign_test: Estimate
    instances: pl.DataFrame


def paired_difference(
    first: Trials, second: Trials, *, name: str = "difference", how: Resampling = DEFAULT
) -> Comparison:
    """Compare two agents on the instances that both have a valid trial of; `task` is required in both.

    Repeats average within an instance, instances within a task. The bootstrap draws tasks, then instances, the same for
    both agents, then each agent's repeats on its own.
    """
    sides = [_read(side) for side in (first, second)]
    keys = _common(*(side.keys for side in sides))
    kept = [side.on(keys) for side in sides]
    counts = Counts(
        max(side.planned for side in sides), min(len(part.values) for part in kept)
    ).having(
        instances=len(keys), first_only=sides[0].instances - len(keys), second_only=sides[1].instances - len(keys),
        first_trials=len(kept[0].values), second_trials=len(kept[1].values),
    )  # fmt: skip
    means = [part.means() for part in kept]
    gap = means[1] - means[0]
    tasks = (
        codes("task", keys["task"])
        if len(keys)
        else Codes(np.zeros(0, dtype=np.int64), pl.Series("task", [], pl.String))
    )
    table = keys.with_columns(
        first=means[0], second=means[1], difference=gap, change=pl.Series(_changes(means[0], means[1]), dtype=pl.String)
    ).sort("task", "instance")
    given = ("instances that both have a valid trial of",)
    if not len(keys):
        reason = "no instance has a valid trial of both"
        none = Estimate(name, None, counts, unit=Unit.POINTS, reason=reason, conditional_on=given)
        return Comparison(none, none.called("sign test"), table)
    per_task = np.bincount(tasks.index, weights=gap) / np.bincount(tasks.index)
    counts = counts.having(
        tasks=tasks.size, better=int((per_task > 1e-12).sum()), worse=int((per_task < -1e-12).sum())
    )  # fmt: skip
    low, high, method, note = _interval(kept, tasks, how)
    level = how.level if method else None
    value = float(per_task.mean())
    difference = Estimate(name, value, counts, low, high, level, method, Unit.POINTS, conditional_on=given).noting(note)
    return Comparison(difference, _sign_test(counts), table)


@dataclass(frozen=True, slots=True)
class _Side:
    keys: pl.DataFrame
    """Distinct (task, instance) with a valid trial, as texts."""
    index: Ints
    values: Floats
    planned: int

    @property
    def instances(self) -> int:
        return len(self.keys)

    def on(self, keys: pl.DataFrame) -> _Side:
        """Only the instances in `keys`, in their order."""
        place = pl.Series("place", np.arange(len(keys)), dtype=pl.Int64)
        found = self.keys.join(keys.with_columns(place), on=["task", "instance"], how="left", maintain_order="left")
        new = found["place"].fill_null(-1).to_numpy()[self.index] if len(self.index) else self.index
        keep = new >= 0
        return _Side(keys, new[keep].astype(np.int64), self.values[keep], self.planned)

    def means(self) -> Floats:
        size = self.instances
        count = np.bincount(self.index, minlength=size)
        return np.asarray(np.bincount(self.index, weights=self.values, minlength=size) / np.maximum(count, 1))


def _read(side: Trials) -> _Side:
    size = same_length(score=side.score, task=side.task, instance=side.instance, state=side.state)
    numbers, present = floats("score", side.score, low=0, high=1)
    valid, _ = valid_rows("score", present, side.state)
    task = series("task", side.task if side.task is not None else np.arange(size)).cast(pl.String)
    instance = task if side.instance is None else series("instance", side.instance).cast(pl.String)
    rows = pl.DataFrame({"task": task, "instance": instance}).filter(pl.Series(valid))
    keys = rows.unique(maintain_order=True)
    numbered = keys.with_columns(place=pl.Series(np.arange(len(keys)), dtype=pl.Int64))
    index = rows.join(numbered, on=["task", "instance"], how="left", maintain_order="left")["place"].to_numpy()
    return _Side(keys, np.asarray(index, dtype=np.int64), numbers[valid], size)


def _common(one: pl.DataFrame, two: pl.DataFrame) -> pl.DataFrame:
    return one.join(two, on=["task", "instance"], how="semi").sort("task", "instance")


def _changes(one: Floats, two: Floats) -> list[str]:
    gained, lost = ~is_full(one) & is_full(two), is_full(one) & ~is_full(two)
    better, worse = two > one + 1e-12, two < one - 1e-12
    return [str(w) for w in np.select([gained, lost, better, worse], ["gained", "lost", "better", "worse"], "same")]


def _interval(sides: list[_Side], tasks: Codes, how: Resampling) -> tuple[float | None, float | None, str, str]:
    if tasks.size < 2:
        return None, None, "", "one task: no interval"
    order = np.argsort(tasks.index, kind="stable")
    many = np.bincount(tasks.index)
    first = np.cumsum(many) - many
    rng = how.rng()
    trials = sum(len(side.values) for side in sides)
    if trials * how.resamples > _DRAWS:
        return _closed_form(sides, tasks, how)
    step = max(1, _BLOCK // max(trials, 1))
    layouts = [_layout(side) for side in sides]
    drawn = []
    for start in range(0, how.resamples, step):
        rows = min(step, how.resamples - start)
        task = rng.integers(0, tasks.size, size=rows * tasks.size)
        size = many[task]
        bounds = size.repeat(size)
        instance = order[first[task].repeat(size) + (rng.random(len(bounds)) * bounds).astype(np.int64)]
        gap = np.zeros(len(instance))
        for sign, (values, starts, repeats) in zip((-1, 1), layouts, strict=True):
            count = repeats[instance]
            limits = count.repeat(count)
            trial = starts[instance].repeat(count) + (rng.random(len(limits)) * limits).astype(np.int64)
            gap += sign * np.add.reduceat(values[trial], np.cumsum(count) - count) / count
        per_task = np.add.reduceat(gap, np.cumsum(size) - size) / size
        drawn.append(per_task.reshape(rows, tasks.size).mean(axis=1))
    whole = np.concatenate(drawn)
    if np.ptp(whole) < 1e-12:
        return None, None, "", "every task differs by as much: the bootstrap has no width"
    low, high = percentiles(whole, how.level)
    return low, high, f"paired bootstrap over task, instance, repeat ({how.resamples})", ""


def _closed_form(sides: list[_Side], tasks: Codes, how: Resampling) -> tuple[float, float, str, str]:
    """The normal interval with the variance that the bootstrap has in the limit."""
    gap = sides[1].means() - sides[0].means()
    noise = np.zeros(len(gap))
    for side in sides:
        repeats = np.bincount(side.index, minlength=len(gap))
        squares = np.bincount(side.index, weights=(side.values - side.means()[side.index]) ** 2, minlength=len(gap))
        noise += squares / repeats**2
    size = np.bincount(tasks.index)
    per_task = np.bincount(tasks.index, weights=gap) / size
    spread = np.bincount(tasks.index, weights=(gap - per_task[tasks.index]) ** 2 + noise) / size**2
    error = np.sqrt((per_task.var() + spread.mean()) / tasks.size)
    half = normal_quantile((1 + how.level) / 2) * float(error)
    middle = float(per_task.mean())
    method = "normal, with the variance of the paired bootstrap over task, instance, repeat in closed form"
    return middle - half, middle + half, method, ""


def _layout(side: _Side) -> tuple[Floats, Ints, Ints]:
    order = np.argsort(side.index, kind="stable")
    repeats = np.bincount(side.index, minlength=side.instances).astype(np.int64)
    return side.values[order], np.cumsum(repeats) - repeats, repeats


def _sign_test(counts: Counts) -> Estimate:
    from scipy.special import bdtr

    better, worse = counts.special["better"], counts.special["worse"]
    unequal = better + worse
    if not unequal:
        return Estimate("sign test", None, counts, unit=Unit.NUMBER, reason="no task differs")
    p = min(1.0, 2 * float(bdtr(min(better, worse), unequal, 0.5)))
    return Estimate("sign test", p, counts, method="exact, two-sided", unit=Unit.NUMBER)
