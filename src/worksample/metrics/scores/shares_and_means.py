"""Shares, means and medians with counts and intervals. Most other figures are built on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    count_flags,
    flags,
    floats,
    narrow,
    same_length,
    series,
)
from worksample.metrics.counts import Counts, State, count_states, counts_of, with_noun
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling
from worksample.metrics.uncertainty.intervals import RateInterval, rate_interval
from worksample.metrics.uncertainty.mean_difference import difference
from worksample.metrics.uncertainty.trial_hierarchy import Hierarchy, hierarchy, independent

UNWIELDY = 100_000
"""Number of instances above which a mean is not computed as an exact rational number."""
LEFT_OUT = "missing at random: work without a grade is assumed to be like graded work"


def valid_rows(name: str, present: Flags, state: Column | None) -> tuple[Flags, Counts]:
    """Return a flag per row that is true if the row is valid, and the counts of all rows. Without a `state` column a
    row without a value is ungraded.

    Raises UsageError if a row is valid by its `state` but has no value.
    """
    if state is None:
        valid = count_flags(present)
        return present, Counts(planned=len(present), valid=valid, ungraded=len(present) - valid)
    same_length(**{name: series(name, present), "state": state})
    counts = count_states(state)
    valid_here = (series("state", state).cast(pl.String) == State.VALID).to_numpy()
    if (valid_here & ~present).any():
        row = int(np.flatnonzero(valid_here & ~present)[0])
        raise UsageError(
            f'row {row} has the state "valid", but no value',
            where=f"column {name!r}",
            next='give the row the state "ungraded"',
        )
    return valid_here, counts


def group_counts(group: Ints, size: int, valid: Flags, state: Column | None) -> list[Counts]:
    """Return the counts of each group of rows. `valid` and `state` are as in `valid_rows`."""
    planned = np.array([len(group)]) if size == 1 else np.bincount(group, minlength=size)
    if state is not None:
        states = codes("state", series("state", state).cast(pl.String))
        names, cells = states.names(), group * states.size + states.index
        table = np.bincount(cells, minlength=size * states.size).reshape(size, states.size)
        return [counts_of(dict(zip(names, row, strict=True))) for row in table.tolist()]
    graded = planned if valid.all() else np.bincount(group[valid], minlength=size)
    return [Counts(p, v, ungraded=p - v) for p, v in zip(planned.tolist(), graded.tolist(), strict=True)]


def share(
    name: str, successes: int, counts: Counts, *, level: float = 0.95, method: RateInterval = "exact"
) -> Estimate:
    """Return the share of `successes` among `counts.valid` independent trials, with the exact or Wilson's interval."""
    counts = counts.having(successes=successes)
    if counts.valid == 0:
        return Estimate(name, None, counts, unit=Unit.SHARE, reason=nothing_valid(counts))
    low, high = rate_interval(successes, counts.valid, level, method)
    value = Fraction(successes, counts.valid)
    given = (LEFT_OUT,) if counts.valid < counts.planned else ()
    error = math.sqrt(float(value * (1 - value)) / (counts.valid - 1)) or None if counts.valid > 1 else None
    return Estimate(
        name, float(value), counts, low, high, level, method, error, Unit.SHARE, exact=value, conditional_on=given
    )


def nothing_valid(counts: Counts) -> str:
    """Return the reason why a figure has no value if no trial is valid."""
    if counts.planned == 0:
        return "nothing was planned"
    return (
        f"none of {counts.planned} planned is graded ({counts.infrastructure_failed} failed for infrastructure,"
        f" {counts.ungraded} ungraded, {counts.pending} not run)"
    )


def rate(
    passed: Column,
    *,
    state: Column | None = None,
    task: Column | None = None,
    instance: Column | None = None,
    failed: Column | None = None,
    name: str = "rate",
    method: RateInterval = "exact",
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the share of valid rows that passed.

    `passed` contains booleans, null if the row has no verdict. `state` contains `State` values; without this column a
    null means ungraded. With `task`, rows of one task are not independent. They are averaged into instances and tasks,
    and the interval is over tasks (`unit_intervals.share`). If every task occurs once, the interval is the exact one,
    or Wilson's if `method` says so. `failed` flags rows without a verdict that can only fail, such as work that crashed
    its grader; they count 0 in both `bounds`.
    """
    yes, present = flags("passed", passed)
    same_length(passed=passed, state=state, task=task, instance=instance)
    valid, counts = valid_rows("passed", present, state)
    h = structure(task, instance, valid) if task is not None and counts.valid else None
    credit = (yes if valid.all() else yes[valid]).astype(np.float64)
    found = rate_within(name, h, credit, counts, how, method)
    return replace(found, bounds=bounds(yes, valid, (task, instance), failed))


def rate_within(
    name: str, h: Hierarchy | None, credit: Floats, counts: Counts, how: Resampling, method: RateInterval = "exact"
) -> Estimate:
    """Return the share of valid rows that passed (`credit` is 0 or 1). Rows are independent if the hierarchy is None or
    flat.
    """
    if h is None or h.flat:
        return share(name, int(credit.sum()), counts, level=how.level, method=method)
    exact = exact_mean(h.within(credit), h.repeats, h.siblings, h.tasks)
    return replace(mean_within(name, h, credit, counts, how), exact=exact)


def mean_score(
    score: Column,
    *,
    state: Column | None = None,
    task: Column | None = None,
    instance: Column | None = None,
    name: str = "mean score",
    unit: Unit = Unit.SHARE,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the mean score of valid rows: repeats are averaged first, then instances, then tasks.

    `score` contains numbers, null if the row has no score; shares must lie in 0..1. Without `task` every row is a task
    of its own. The interval is over tasks. It is computed by `unit_intervals.share` for shares,
    `mean_difference.difference` for points, and `unit_intervals.amounts` for other units.
    """
    low, high = (0.0, 1.0) if unit is Unit.SHARE else (None, None)
    numbers, present = floats("score", score, low=low, high=high)
    same_length(score=score, state=state, task=task, instance=instance)
    valid, counts = valid_rows("score", present, state)
    if counts.valid:
        values = numbers if valid.all() else numbers[valid]
        found = mean_within(name, structure(task, instance, valid), values, counts, how, unit)
    else:
        found = Estimate(name, None, counts, unit=unit, reason=nothing_valid(counts))
    return found if unit is not Unit.SHARE else replace(found, bounds=bounds(numbers, valid, (task, instance)))


def bounds(
    values: Floats | Flags, valid: Flags, units: tuple[Column | None, Column | None], failed: Column | None = None
) -> tuple[float, float] | None:
    """Return the lowest and the highest possible mean of shares. Invalid rows count 0 in the lowest and 1 in the
    highest mean; rows flagged in `failed` count 0 in both.

    `units` contains the columns task and instance. Return None if all rows are valid.
    """
    if valid.all():
        # This also holds if there are no rows at all.
        return None
    h = structure(*units, np.ones(len(valid), dtype=bool))
    low, high = (float(h.task_means(end).mean()) for end in worst_and_best(values, valid, failed))
    return low, high


def worst_and_best(values: Floats | Flags, valid: Flags, failed: Column | None) -> tuple[Floats, Floats]:
    """Return the shares in the worst case, with 0 for invalid rows, and in the best case, with 1 for invalid rows. Rows
    flagged in `failed` are 0 in both.
    """
    worst = np.where(valid, values, 0.0)
    open_ = ~valid if failed is None else ~valid & ~flags("failed", failed)[0]
    return worst, np.where(open_, 1.0, worst)


def structure(task: Column | None, instance: Column | None, valid: Flags) -> Hierarchy:
    """Return the hierarchy of the valid rows. Without `task` every row is a task of its own."""
    if task is None:
        return independent(count_flags(valid))
    if valid.all():
        return hierarchy(task, instance)
    kept = pl.Series(valid)
    outer = series("task", task).filter(kept)
    return hierarchy(outer, None if instance is None else series("instance", instance).filter(kept))


def mean_within(
    name: str, h: Hierarchy, values: Floats, counts: Counts, how: Resampling, unit: Unit = Unit.SHARE
) -> Estimate:
    """Return the mean of valid values over tasks. `h` is the hierarchy of the values."""
    alike = units.zero_or_one(values) if unit is Unit.SHARE else 1.0
    return mean_of_tasks(name, h.task_means(values), alike, counts, how, unit)


def mean_of_tasks(
    name: str, means: Floats, alike: float, counts: Counts, how: Resampling, unit: Unit = Unit.SHARE
) -> Estimate:
    """Return the mean of the tasks' means. `alike` is `unit_intervals.zero_or_one` of the trials from which the means
    were computed.
    """
    counts = counts.having(tasks=len(means))
    value = float(means.mean())
    ends, note = _interval(means, alike, how, unit)
    given = (LEFT_OUT,) if counts.valid < counts.planned else ()
    notes = (note,) if note else ()
    value = min(max(value, 0.0), 1.0) if unit is Unit.SHARE else value
    return Estimate(name, value, counts, *ends, unit, notes=notes, conditional_on=given)


def _interval(means: Floats, alike: float, how: Resampling, unit: Unit) -> tuple[Interval, str]:
    if unit is Unit.SHARE:
        return units.share(means, how.level, alike=alike)
    if unit is Unit.POINTS:
        return difference(means, how.level)
    return units.amounts(means, how.level)


def exact_mean(hits: Floats, repeats: Ints, siblings: Ints, tasks: int) -> Fraction | None:
    """Return the mean over tasks as a rational number for printing. Return None if the number would be too long.

    `hits` is the number of passes of each instance, `repeats` its number of trials, and `siblings` the number of
    instances of its task.
    """
    if len(hits) > UNWIELDY:
        return None
    total = Fraction(0)
    for size in np.unique(siblings):
        for repeat in np.unique(repeats):
            of = (siblings == size) & (repeats == repeat)
            total += Fraction(int(hits[of].sum()), int(repeat) * int(size))
    return total / tasks


def apply_by(
    metric: Callable[..., Estimate], by: Column, columns: Mapping[str, Column], **options: object
) -> dict[str, Estimate]:
    """Return `metric(**columns, **options)` for each group of rows, sorted by group.

    `by` may be a list column: a row then counts in every group that it names. Such groups overlap, as TAC's platforms
    do, so their figures must never be averaged; a note on each figure says so.
    """
    group = series("by", by)
    same_length(by=group, **columns)
    table = {name: series(name, values) for name, values in columns.items()}
    note = "groups overlap: do not average them" if group.dtype.is_nested() else ""
    ends, names, order = _runs(group) or _group_by_sorting(group)
    out = {}
    for place, label in sorted(enumerate(names), key=lambda pair: pair[1]):
        start, end = (ends[place - 1] if place else 0), ends[place]
        picked = {
            name: column.slice(start, end - start) if order is None else column.gather(order[start:end])
            for name, column in table.items()
        }
        out[label] = metric(**picked, **options).noting(note)
    return out


_Grouped = tuple[Ints, list[str], Ints | None]
"""The last row and the name of each group, and the order of rows that makes groups contiguous. The order is None if the
rows already have it.
"""


def _group_by_sorting(group: pl.Series) -> _Grouped:
    rows = None
    if group.dtype.is_nested():
        rows = np.arange(len(group)).repeat(group.list.len().fill_null(0).to_numpy())
        group = group.drop_nulls().explode(empty_as_null=False)
    groups = codes("by", group)
    # A stable sort of 16 bits is a radix sort.
    order = np.argsort(narrow(groups.index, groups.size), kind="stable")
    ends = np.cumsum(np.bincount(groups.index, minlength=groups.size))
    return ends, groups.names(), order if rows is None else rows[order]


def _runs(group: pl.Series) -> _Grouped | None:
    """Return the groups if the rows of each group are contiguous, else None."""
    named = group.dtype in (pl.Categorical, pl.Enum) or group.dtype.is_integer()
    if not named or group.null_count() or not len(group):
        return None
    numbers = group.to_physical().to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1])
    labels = group.gather(starts).cast(pl.String)
    return None if labels.n_unique() < len(labels) else (np.append(starts[1:], len(group)), labels.to_list(), None)


def median_amount(
    amount: Column,
    *,
    task: Column | None = None,
    instance: Column | None = None,
    name: str = "median",
    unit: Unit = Unit.NUMBER,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the median of the tasks' mean amounts. A null amount is ungraded.

    The interval is exact: its ends are two of the tasks' means (order statistics). At 95 % it needs at least 6 tasks. A
    single extreme trial hardly moves the median.
    """
    numbers, present = floats("amount", amount)
    same_length(amount=amount, task=task, instance=instance)
    valid, counts = valid_rows("amount", present, None)
    if not counts.valid:
        return Estimate(name, None, counts, unit=unit, reason=nothing_valid(counts))
    h = structure(task, instance, valid)
    means = np.sort(h.task_means(numbers[valid]))
    ends, note = _between(means, how.level)
    given = (LEFT_OUT,) if counts.valid < counts.planned else ()
    found = Estimate(name, float(np.median(means)), counts.having(tasks=h.tasks), *ends, unit, conditional_on=given)
    return found.noting(note)


def _between(ordered: np.ndarray, level: float) -> tuple[Interval, str]:
    """Return the narrowest interval between two ordered values, equally far from both ends of the list, that contains
    the median with confidence `level`; also return a note.
    """
    from scipy.special import bdtr

    size = len(ordered)
    below = bdtr(np.arange(size // 2), size, 0.5)
    inside = int((below <= (1 - level) / 2).sum())
    if not inside:
        return Interval(), f"{with_noun(size, 'task')}, too few for an interval of a median at {100 * level:g} %"
    low, high = float(ordered[inside - 1]), float(ordered[size - inside])
    note = "the tasks in the middle are all equal: the interval is one value" if low == high else ""
    return Interval(low, high, level, "order statistics of tasks"), note
