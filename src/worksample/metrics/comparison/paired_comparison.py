"""Paired comparison of two agents on the same work: the mean difference over tasks, and the change on each instance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Floats,
    Ints,
    codes,
    count_flags,
    floats,
    same_length,
    series,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.rounding import percent
from worksample.metrics.scores.shares_and_means import valid_rows
from worksample.metrics.scores.tiers import TrialColumns
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling
from worksample.metrics.uncertainty.mean_difference import MeanDifferenceTest, interval_of
from worksample.records import is_full


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A comparison of two agents.

    `difference` is the second agent's score minus the first agent's, averaged over common tasks. `instances` is a table
    with a row per instance: task, instance, first, second, difference, and change (gained, lost, better, worse, same).
    `sign_test` is the exact two-sided p of the number of tasks won by each agent, if both were equally good. `shift` is
    the test of the mean difference, None with fewer than two common tasks.
    """

    difference: Estimate
    sign_test: Estimate
    instances: pl.DataFrame
    shift: MeanDifferenceTest | None = None

    @property
    def p(self) -> float | None:
        """Two-sided p value for the hypothesis of no difference. It is below 1 - level if the interval excludes 0. None
        with fewer than two common tasks.
        """
        return None if self.shift is None else self.shift.p

    @property
    def ahead(self) -> float | None:
        """The probability that the second agent is better than the first. None with fewer than two common tasks."""
        return None if self.shift is None else self.shift.ahead

    def not_worse(self, margin: float) -> Estimate:
        """Return the confidence that the second agent is worse than the first by less than `margin` (0.05 is five
        points).

        The second agent counts as non-inferior, at a one-sided level of 97.5 %, if this confidence is 0.975 or more.
        This is equivalent to a 95 % interval above -margin. An agent that is worse by exactly the margin is called "not
        worse" in at most 2.5 % of studies. Raises UsageError if the margin is not above 0 and at most 1.
        """
        if not 0 < margin <= 1:
            raise UsageError(f"the margin {margin:g} is out of range", next="pass a share of 0..1: 0.05 is five points")
        name = f"not worse by {percent(margin)} points"
        if self.shift is None:
            return Estimate(name, None, self.difference.counts, unit=Unit.SHARE, reason="one task: no interval")
        value = self.shift.above(-margin)
        method = "Gaffke's bound over tasks, one-sided"
        return Estimate(name, value, self.difference.counts, method=method, unit=Unit.SHARE)


def paired_difference(
    first: TrialColumns, second: TrialColumns, *, name: str = "difference", how: Resampling = DEFAULT
) -> PairedComparison:
    """Compare two agents on the instances on which both have a valid trial. Both need the column `task`.

    Repeats are averaged within an instance, and instances within a task. The interval is computed from the differences
    per task (`mean_difference.MeanDifferenceTest`). These differences already contain the chance variation within
    tasks, so it is not added a second time.
    """
    sides = [read_side(side) for side in (first, second)]
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
    given = ("instances with a valid trial of both",)
    if not len(keys):
        reason = "no instance has a valid trial of both"
        none = Estimate(name, None, counts, unit=Unit.POINTS, reason=reason, conditional_on=given)
        return PairedComparison(none, none.renamed_to("sign test"), table)
    per_task = np.bincount(tasks.index, weights=gap) / np.bincount(tasks.index)
    counts = counts.having(
        tasks=tasks.size, better=count_flags(per_task > 1e-12), worse=count_flags(per_task < -1e-12)
    )  # fmt: skip
    alike = sum(units.zero_or_one(part.values) for part in kept) / 2
    shift = MeanDifferenceTest.of(per_task, alike) if tasks.size > 1 else None
    ends, note = (Interval(), units.ONE_UNIT) if shift is None else interval_of(shift, how.level)
    difference = Estimate(name, float(per_task.mean()), counts, *ends, Unit.POINTS, conditional_on=given).noting(note)
    return PairedComparison(difference, _sign_test(counts), table, shift)


@dataclass(frozen=True, slots=True)
class PairedSide:
    """Valid trials of one of the two compared agents, by instance."""

    keys: pl.DataFrame
    """Distinct (task, instance) with a valid trial, as two columns of texts."""
    index: Ints
    values: Floats
    planned: int

    @property
    def instances(self) -> int:
        return len(self.keys)

    def on(self, keys: pl.DataFrame) -> PairedSide:
        """Return the trials of only the instances in `keys`, in the order of `keys`."""
        place = pl.Series("place", np.arange(len(keys)), dtype=pl.Int64)
        found = self.keys.join(keys.with_columns(place), on=["task", "instance"], how="left", maintain_order="left")
        new = found["place"].fill_null(-1).to_numpy()[self.index] if len(self.index) else self.index
        keep = new >= 0
        return PairedSide(keys, new[keep].astype(np.int64), self.values[keep], self.planned)

    def means(self) -> Floats:
        size = self.instances
        count = np.bincount(self.index, minlength=size)
        return np.asarray(np.bincount(self.index, weights=self.values, minlength=size) / np.maximum(count, 1))


def read_side(side: TrialColumns) -> PairedSide:
    """Return one agent's valid trials, by instance."""
    size = same_length(score=side.score, task=side.task, instance=side.instance, state=side.state)
    numbers, present = floats("score", side.score, low=0, high=1)
    valid, _ = valid_rows("score", present, side.state)
    task = _names("task", side.task if side.task is not None else np.arange(size))
    instance = task if side.instance is None else _names("instance", side.instance)
    rows = pl.DataFrame({"task": task, "instance": instance}).filter(pl.Series(valid))
    keys = rows.unique(maintain_order=True)
    numbered = keys.with_columns(place=pl.Series(np.arange(len(keys)), dtype=pl.Int64))
    index = rows.join(numbered, on=["task", "instance"], how="left", maintain_order="left")["place"].to_numpy()
    return PairedSide(keys, np.asarray(index, dtype=np.int64), numbers[valid], size)


def _names(name: str, column: Column) -> pl.Series:
    """Return a column of names as texts. Raises UsageError if a name is missing."""
    codes(name, column)
    return series(name, column).cast(pl.String)


def _common(one: pl.DataFrame, two: pl.DataFrame) -> pl.DataFrame:
    return one.join(two, on=["task", "instance"], how="semi").sort("task", "instance")


def _changes(one: Floats, two: Floats) -> list[str]:
    gained, lost = ~is_full(one) & is_full(two), is_full(one) & ~is_full(two)
    better, worse = two > one + 1e-12, two < one - 1e-12
    return [str(w) for w in np.select([gained, lost, better, worse], ["gained", "lost", "better", "worse"], "same")]


def _sign_test(counts: Counts) -> Estimate:
    from scipy.special import bdtr

    better, worse = counts.special["better"], counts.special["worse"]
    unequal = better + worse
    if not unequal:
        return Estimate("sign test", None, counts, unit=Unit.NUMBER, reason="no task differs")
    p = min(1.0, 2 * float(bdtr(min(better, worse), unequal, 0.5)))
    return Estimate("sign test", p, counts, method="exact, two-sided", unit=Unit.NUMBER)
