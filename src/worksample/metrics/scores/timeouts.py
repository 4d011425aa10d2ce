"""Timeouts: how often runs reached the time limit, and the scores of runs that did and that did not (ALE Tables 6 and
7).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    count_flags,
    flags,
    floats,
    pair_codes,
    same_length,
)
from worksample.metrics.counts import Counts, sum_counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.trial_hierarchy import independent

from .shares_and_means import LEFT_OUT, group_counts, mean_within, nothing_valid, share, valid_rows
from .tiers import TrialColumns


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Share of runs that reached the time limit, and the mean scores of the runs that did and of those that did not. A
    run that reached the limit is graded like any other (ALE D.2).
    """

    rate: Estimate
    timed_out: Estimate
    others: Estimate


def timeout_table(
    trials: TrialColumns, timed_out: Column, by: Column | None = None, how: Resampling = DEFAULT
) -> dict[str, Timeouts]:
    """Return the timeouts of each group and, under "overall", of all runs (ALE Tables 6 and 7).

    The rate is the share of runs, as in ALE. Intervals take into account that runs of the same task are not
    independent.
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
    """Runs counted by part and task, with intervals over the tasks that runs share.

    A part is a combination of group and whether the time limit was reached. Cell c belongs to part `part[c]` and task
    `task[c]`. It has `runs[c]` runs, of which `graded[c]` have a score, and `total[c]` is the sum of these scores.
    """

    part: Ints
    task: Ints
    runs: Ints
    graded: Ints
    total: Floats
    squares: Floats
    """Sum of the squared scores in each part."""
    counts: list[Counts]
    """Counts of trials in each part."""
    sizes: tuple[int, int]
    """Number of groups and number of tasks."""
    shared: bool
    """Whether several runs may belong to the same task."""
    how: Resampling

    @classmethod
    def of(
        cls,
        trials: TrialColumns,
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
        """Return the timeouts of one group, or of all groups if `group` is None."""
        late, early, unknown = (self._cells(side, group) for side in (_LATE, _EARLY, _UNKNOWN))
        means = self._mean("timeout score", late, _LATE, group), self._mean("other score", early, _EARLY, group)
        return Timeouts(self._share(late, early, unknown), *means)

    def _parts(self, side: int, group: int | None) -> slice:
        first = side * self.sizes[0]
        return slice(first, first + self.sizes[0]) if group is None else slice(first + group, first + group + 1)

    def _cells(self, side: int, group: int | None) -> Flags:
        parts = self._parts(side, group)
        return np.asarray((self.part >= parts.start) & (self.part < parts.stop))

    def _sums_by_task(self, cells: Flags, amount: Floats | Ints) -> Floats:
        """Return the sum of `amount` over the flagged cells for each task."""
        return np.bincount(self.task[cells], weights=amount[cells], minlength=self.sizes[1]).astype(np.float64)

    def _share(self, late: Flags, early: Flags, unknown: Flags) -> Estimate:
        hits, others, ungraded = (int(self.runs[cells].sum()) for cells in (late, early, unknown))
        counts = Counts(hits + others + ungraded, hits + others, ungraded=ungraded)
        plain = share("timeout rate", hits, counts, level=self.how.level)
        if not self.shared or not counts.valid:
            return plain
        above = self._sums_by_task(late, self.runs)
        return self._by_task(plain, above, above + self._sums_by_task(early, self.runs), 1.0)

    def _mean(self, name: str, cells: Flags, side: int, group: int | None) -> Estimate:
        parts = self._parts(side, group)
        counts = sum_counts(self.counts[parts])
        if not counts.valid:
            return Estimate(name, None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
        below = self._sums_by_task(cells, self.graded)
        total = self._sums_by_task(cells, self.total)
        if int(below.max()) == 1:
            values = total[below > 0]
            return mean_within(name, independent(len(values)), values, counts, self.how)
        given = (LEFT_OUT,) if counts.valid < counts.planned else ()
        counts, value = counts.having(tasks=count_flags(below > 0)), float(total.sum()) / counts.valid
        value = min(max(value, 0.0), 1.0)
        plain = Estimate(name, value, counts, unit=Unit.SHARE, conditional_on=given)
        alike = units.alike(value, float(self.squares[parts].sum()) / counts.valid)
        return self._by_task(plain, total, below, alike)

    def _by_task(self, plain: Estimate, above: Floats, below: Floats, alike: float) -> Estimate:
        if np.count_nonzero(below) == int(below.sum()):
            return plain
        ends, note = units.share_of_sums(above, below, self.how.level, alike=alike)
        return replace(plain, **ends._asdict(), notes=(note,) if note else ())
