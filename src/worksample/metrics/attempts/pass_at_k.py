"""pass@k from independent attempts, computed as a product, with an optional ceiling (UpBench D.1)."""

from __future__ import annotations

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Floats, count_flags, same_length, whole
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.shares_and_means import structure
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling


def pass_at_k_each(attempts: Column, passes: Column, k: int) -> Floats:
    """Return pass@k for each task: the probability that k attempts, drawn without replacement from its n attempts,
    include at least one of its c passes.

    The value is 1 minus the product of (1 - k/j) over j = n-c+1..n. It is 1 if n - c < k, and NaN if n < k.
    """
    same_length(attempts=attempts, passes=passes)
    n, c = whole("attempts", attempts, low=0), whole("passes", passes, low=0)
    if (c > n).any():
        row = int(np.flatnonzero(c > n)[0])
        raise UsageError(
            f"row {row}: {c[row]} passes in {n[row]} attempts is impossible",
            where="column 'passes'",
            next="pass 0 <= passes <= attempts",
        )
    if k < 1:
        raise UsageError(f"k = {k} is too small", next="pass k >= 1")
    missed = np.ones(len(n))
    for back in range(int(c.max(initial=0))):
        j = n - back
        factor = np.where(back < c, 1 - k / np.maximum(j, 1), 1.0)
        missed *= factor
    certain = n - c < k
    return np.where(n < k, np.nan, np.where(certain, 1.0, 1 - missed))


def pass_at_k(
    attempts: Column,
    passes: Column,
    k: int,
    *,
    ceiling: float | None = None,
    task: Column | None = None,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the mean of pass@k over tasks, multiplied by `ceiling` if given (0..1: the share of tasks that are
    feasible).

    Attempts must be independent repeats. Re-attempts with feedback are not independent; use `passed_within` for them.
    Tasks with fewer than k attempts have no value and are counted as ungraded. Rows with the same `task` are instances
    of that task and are averaged into one value; without `task`, every row is a task.
    """
    each = pass_at_k_each(attempts, passes, k)
    if ceiling is not None and not 0 <= ceiling <= 1:
        raise UsageError(f"the ceiling {ceiling} is out of range", next="pass a share of 0..1")
    known = ~np.isnan(each)
    values = each[known] * (1.0 if ceiling is None else ceiling)
    same_length(attempts=attempts, task=task)
    counts = Counts(len(each), count_flags(known), ungraded=count_flags(~known)).having(k=k)
    name = f"pass@{k}"
    notes = (f"{counts.ungraded} tasks have fewer than {k} attempts",) if counts.ungraded else ()
    given = ("independent attempts", *((f"a ceiling of {ceiling:g}",) if ceiling is not None else ()))
    if not counts.valid:
        reason = f"no task has {k} attempts"
        return Estimate(name, None, counts, unit=Unit.SHARE, reason=reason, conditional_on=given)
    means = structure(task, None, known).task_means(values)
    ends, note = units.share(means, how.level)
    return Estimate(name, float(means.mean()), counts, *ends, Unit.SHARE, notes=notes, conditional_on=given).noting(
        note
    )
