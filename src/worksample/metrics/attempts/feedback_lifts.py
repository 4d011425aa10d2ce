"""Gains by a second attempt with feedback, in pass rate and in rubric score (UpBench 5.2.1, C).

A lift is the figure after the second attempts compared with the figure before them. The rescue rate is the pass rate of
the second attempts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Floats,
    codes,
    count_flags,
    flags,
    floats,
    same_length,
    series,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.shares_and_means import nothing_valid, share
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling, group_sums, ratio
from worksample.metrics.uncertainty.intervals import exact
from worksample.metrics.uncertainty.mean_difference import difference


@dataclass(frozen=True, slots=True)
class SuccessLifts:
    """Lifts of the pass rate, computed from four counts (UpBench Table 2).

    N is the number of jobs, A the number that passed at the first attempt, M the number of failed jobs that were tried
    again, and B the number of second attempts that passed.
    """

    p1: Estimate
    p_overall: Estimate
    absolute: Estimate
    relative: Estimate
    rescue: Estimate

    def all(self) -> tuple[Estimate, ...]:
        return (self.p1, self.p_overall, self.absolute, self.relative, self.rescue)


@dataclass(frozen=True, slots=True)
class RubricLifts:
    """Mean rubric scores of first attempts and of final attempts, and the gain from first to final (UpBench C)."""

    first: Estimate
    overall: Estimate
    absolute: Estimate
    relative: Estimate
    """Mean score of the second attempts divided by the mean score of the first attempts, minus 1. Only jobs with a
    second attempt count.
    """

    def all(self) -> tuple[Estimate, ...]:
        return (self.first, self.overall, self.absolute, self.relative)


def lifts_from_counts(jobs: int, passed: int, retried: int, rescued: int, how: Resampling = DEFAULT) -> SuccessLifts:
    """Return lifts from four counts: N jobs, A passed at first, M retried, B rescued.

    Jobs count as independent, so intervals are exact. The interval of the relative lift is derived from the share of B
    in A + B. Raises UsageError if the counts contradict each other (A + M > N or B > M).
    """
    if not 0 <= passed <= jobs or not 0 <= retried <= jobs - passed or not 0 <= rescued <= retried:
        raise UsageError(
            f"N={jobs}, A={passed}, M={retried}, B={rescued} contradict each other",
            next="A of N pass at first, M <= N - A are tried again, B <= M of those pass",
        )
    counts = Counts(jobs, jobs).having(N=jobs, A=passed, M=retried, B=rescued)
    short = jobs - passed - retried
    notes = (f"{short} failed jobs had no re-attempt: a lower bound",) if short else ()
    of_all = partial(share, counts=counts, level=how.level)
    relative = Estimate("relative lift", None, counts, unit=Unit.RATIO, reason="no job passed at first")
    if passed:
        value = Fraction(rescued, passed)
        ends = _odds(exact(rescued, passed + rescued, how.level), how.level, "exact")
        relative = Estimate(
            "relative lift", float(value), counts, *ends, Unit.RATIO, notes=notes, exact=value
        )  # fmt: skip
    return SuccessLifts(
        p1=of_all("p1", passed),
        p_overall=of_all("p overall", passed + rescued).noting(*notes),
        absolute=replace(of_all("absolute lift", rescued), unit=Unit.POINTS).noting(*notes),
        relative=relative,
        rescue=_rescue(rescued, counts, how),
    )


def _odds(ends: tuple[float | None, float | None], level: float, method: str) -> Interval:
    """Convert the interval of B / (A + B) into the interval of B / A. The upper end is open if A could be 0."""
    low, high = ends
    if low is None or high is None:
        return Interval()
    return Interval(low / (1 - low), high / (1 - high) if high < 1 else None, level, f"{method} on B of A + B")


def _rescue(rescued: int, counts: Counts, how: Resampling) -> Estimate:
    retried = counts.special["M"]
    given = "failed at first and tried again"
    if not retried:
        reason = "no failed job had a re-attempt"
        return Estimate("rescue rate", None, counts, unit=Unit.SHARE, reason=reason, conditional_on=(given,))
    inside = Counts(retried, retried, special=counts.special)
    return share("rescue rate", rescued, inside, level=how.level).conditional_on_more(given)


def success_lifts(
    first: Column, second: Column, *, task: Column | None = None, how: Resampling = DEFAULT
) -> SuccessLifts:
    """Return lifts of the pass rate from a table with one row per job.

    `first` says whether the first attempt passed; `second` says whether the second attempt passed and is null if the
    job had none. A job whose `first` is null is ungraded and left out of every figure. Jobs with the same `task` are
    resampled together. Raises UsageError if a job that passed at first has a second attempt.
    """
    same_length(first=first, second=second, task=task)
    won, judged = flags("first", first)
    again, retried = flags("second", second)
    if (wrong := won & judged & retried).any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"row {row} passed at the first attempt, but has a second attempt",
            where="column 'second'",
            next="pass None as the second of a job that passed",
        )
    a, m = won & judged, judged & ~won & retried
    b = m & again
    table = lifts_from_counts(count_flags(judged), int(a.sum()), int(m.sum()), int(b.sum()), how)
    out = len(judged) - count_flags(judged)
    table = SuccessLifts(*(_with_ungraded(e, out) for e in table.all()))
    if task is None:
        return table
    return _cluster_intervals(
        table, codes("task", series("task", task).filter(judged)), [x[judged] for x in (a, m, b)], how
    )


def _with_ungraded(estimate: Estimate, ungraded: int) -> Estimate:
    c = estimate.counts
    if not ungraded:
        return estimate
    counts = Counts(c.planned + ungraded, c.valid, c.infrastructure_failed, c.ungraded + ungraded, c.special)
    if not c.valid:
        return replace(estimate, counts=counts, reason=nothing_valid(counts))
    return replace(estimate, counts=counts)


def _cluster_intervals(table: SuccessLifts, tasks: Codes, parts: list[Flags], how: Resampling) -> SuccessLifts:
    if tasks.size == len(tasks.index):
        return table
    a, m, b = (part.astype(np.float64) for part in parts)
    jobs, won, tried, rescued = group_sums(tasks.index, tasks.size, np.ones(len(a)), a, m, b).T
    of = {
        "p1": (won, jobs), "p_overall": (won + rescued, jobs), "absolute": (rescued, jobs),
        "relative": (rescued, won + rescued), "rescue": (rescued, tried),
    }  # fmt: skip

    def with_interval(field: str) -> Estimate:
        estimate: Estimate = getattr(table, field)
        if estimate.value is None:
            return estimate
        ends, note = units.share_of_sums(*of[field], how.level)
        if field == "relative":
            ends = _odds((ends.low, ends.high), how.level, ends.method)
        return replace(estimate, **ends._asdict()).noting(note)

    return SuccessLifts(**{field: with_interval(field) for field in of})


def rubric_lifts(
    first: Column, second: Column, *, task: Column | None = None, how: Resampling = DEFAULT
) -> RubricLifts:
    """Return lifts of rubric scores (0..1) from a table with one row per job.

    `first` is the score of the first attempt; `second` is the score of the second attempt and is null if the job had
    none. The final score is the score of the second attempt if the job had one, even if it is lower than the first
    score. Intervals are over tasks if `task` is given, otherwise over jobs.
    """
    same_length(first=first, second=second, task=task)
    one, judged = floats("first", first, low=0, high=1)
    two, has_two = floats("second", second, low=0, high=1)
    retried = judged & has_two
    counts = Counts(len(one), count_flags(judged), ungraded=count_flags(~judged)).having(M=count_flags(retried))
    final = np.where(retried, two, one)
    groups = codes("task", task) if task is not None else codes("job", np.arange(len(one)))
    columns = [judged.astype(np.float64), *(np.where(w, x, 0.0) for w, x in _moments(judged, retried, one, two, final))]
    sums = group_sums(groups.index, groups.size, *columns)
    sums = sums[sums[:, 0] > 0]
    total = sums.sum(axis=0)
    per, jobs = sums.T, sums[:, 0]

    def figure(name: str, unit: Unit, of: Callable[[Floats], Floats], why: str = "") -> Estimate:
        if not counts.valid or why:
            return Estimate(name, None, counts, unit=unit, reason=why or nothing_valid(counts))
        if unit is Unit.SHARE:
            column = per[1] if "first" in name else per[2]
            alike = units.zero_or_one((one if "first" in name else final)[judged])
            ends, note = units.share_of_sums(column, jobs, how.level, alike=alike)
        elif unit is Unit.POINTS:
            # The effect of each task on the lift: tasks may have different numbers of jobs.
            lift = float((total[2] - total[1]) / total[0])
            gaps = lift + (per[2] - per[1] - lift * jobs) / jobs.mean()
            ends, note = difference(gaps, how.level, alike=units.zero_or_one(final[judged]))
        else:
            some = (per[3] > 0) | (per[4] > 0)
            ends, note = units.ratio_of_sums(per[3][some], per[4][some], how.level)
            low, high = (None if end is None else end - 1 for end in (ends.low, ends.high))
            ends = Interval(low, high, ends.level, ends.method)
        return Estimate(name, float(of(total[None])[0]), counts, *ends, unit).noting(note)

    missing = "no job has both attempts" if not retried.any() else "" if total[4] > 0 else "first attempts scored 0"
    return RubricLifts(
        first=figure("rubric score, first", Unit.SHARE, ratio(1, 0)),
        overall=figure("rubric score, overall", Unit.SHARE, ratio(2, 0)),
        absolute=figure("absolute rubric lift", Unit.POINTS, lambda s: (s[:, 2] - s[:, 1]) / s[:, 0]),
        relative=figure("relative rubric lift", Unit.RATIO, lambda s: ratio(3, 4)(s) - 1, missing).conditional_on_more(
            "re-attempted jobs"
        ),
    )


def _moments(
    judged: Flags, retried: Flags, one: Floats, two: Floats, final: Floats
) -> tuple[tuple[Flags, Floats], ...]:
    return ((judged, one), (judged, final), (retried, two), (retried, one))
