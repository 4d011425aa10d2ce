"""Correlations with intervals, such as scores on a public subset with scores on the whole suite (ALE D.1), or cost with
hours (RLI C.5).
"""

from __future__ import annotations

import math

import numpy as np

from worksample.metrics.column_checks import Column, count_flags, floats, same_length
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.intervals import fisher


def correlate(x: Column, y: Column, *, log: bool = False, level: float = 0.95, name: str = "Pearson r") -> Estimate:
    """Return Pearson's r over the rows that have both values, with Fisher's interval. With `log`, the logarithms are
    correlated.

    The estimate has no value if fewer than three rows have both values, or if one column is constant. With `log`, rows
    with a 0 are left out and counted, and a negative value is an error.
    """
    same_length(x=x, y=y)
    low = 0.0 if log else None
    (one, has_one), (two, has_two) = floats("x", x, low=low), floats("y", y, low=low)
    rows = has_one & has_two
    zeros = 0
    if log:
        positive = rows & (np.nan_to_num(one) > 0) & (np.nan_to_num(two) > 0)
        zeros, rows = count_flags(rows & ~positive), positive
    counts = Counts(len(rows), count_flags(rows), ungraded=len(rows) - count_flags(rows))
    if zeros:
        counts = counts.having(zeros_left_out=zeros)
    a, b = (np.log(one[rows]), np.log(two[rows])) if log else (one[rows], two[rows])
    given = ("both are known", *(("on a log-log scale",) if log else ()))
    if len(a) < 3:
        return Estimate(name, None, counts, reason=f"{len(a)} pairs are too few", conditional_on=given)
    da, db = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((da**2).sum() * (db**2).sum()))
    tiny = 1e-12 * max(float(np.abs(a).max() * np.abs(b).max()) * len(a), 1e-300)
    if spread <= tiny:
        return Estimate(name, None, counts, reason="one of the two does not vary", conditional_on=given)
    r = float(np.clip((da * db).sum() / spread, -1, 1))
    ends = fisher(r, len(a), level)
    if ends is None:
        note = "fewer than four pairs: no interval" if len(a) < 4 else "all pairs lie on one line: no interval"
        return Estimate(name, r, counts, unit=Unit.NUMBER, notes=(note,), conditional_on=given)
    return Estimate(name, r, counts, *ends, level, "Fisher", unit=Unit.NUMBER, conditional_on=given)


def pearson_p(x: Column, y: Column, *, log: bool = False) -> Estimate:
    """Return the two-sided p of Pearson's r under the hypothesis of no association, from Student's t with n - 2 degrees
    of freedom.

    Print it beside `correlate` of the same rows (ALE D.1: r = 0.89, p < 0.001). A p value has no interval.
    """
    from scipy.special import stdtr

    found = correlate(x, y, log=log, name="p of Pearson r")
    if found.value is None:
        return found
    free = found.counts.valid - 2
    left = 1 - found.value**2
    t = abs(found.value) * math.sqrt(free / left) if left > 0 else math.inf
    p = min(1.0, 2 * float(stdtr(free, -t)))
    note = "a probability of data: no interval"
    given = found.conditional_on
    return Estimate(found.name, p, found.counts, method="Student's t", notes=(note,), conditional_on=given)


def representativeness(subset: Column, pool: Column, level: float = 0.95) -> Estimate:
    """Return how well a public subset represents the full suite: Pearson's r between the two columns of pass rates, one
    row per domain.

    A rate is null if the domain has no valid trial in the subset or in the suite.
    """
    return correlate(subset, pool, level=level, name="representativeness")
