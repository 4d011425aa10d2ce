"""Trend of time horizons: how fast horizons grow with the release dates of agents."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, codes, count_flags, days, floats, same_length
from worksample.metrics.counts import Counts, with_noun
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.unit_intervals import student

FEWEST = 4
"""Minimum number of agents for an interval of the trend."""


def doubling_time(horizon: Column, released: Column, how: Resampling = DEFAULT) -> Estimate:
    """Return the number of days in which time horizons double, from a least-squares line of log2 hours over release
    dates with one row per agent.

    `horizon` is in hours above 0, null if the agent has none. `released` contains dates or ISO texts, null if the date
    is unknown. The interval is Student's interval for the slope. Its standard error includes all differences between
    agents that dates do not explain, and the errors of the horizons. The interval has no upper end if the slope may be
    0. The estimate has no value if horizons do not grow, or if all dates are equal. Raises UsageError for a horizon of
    0 hours or less, and for a text that is not a date.
    """
    same_length(horizon=horizon, released=released)
    hours, known = floats("horizon", horizon, low=0.0)
    dates = days(released)
    rows = known & dates.is_not_null().to_numpy()
    if (known & (np.nan_to_num(hours, nan=1.0) <= 0)).any():
        raise UsageError("a horizon is 0 hours", where="column 'horizon'", next="pass null if there is none")
    counts = Counts(len(rows), count_flags(rows), ungraded=count_flags(~rows)).having(undated=dates.null_count())
    name, size = "doubling time (days)", count_flags(rows)
    given = ("horizons grow at a constant rate", "agents count as a random sample of those released")

    def none(reason: str) -> Estimate:
        return Estimate(name, None, counts, unit=Unit.NUMBER, reason=reason, conditional_on=given)

    if size < 2:
        return none(f"{size} agents with a horizon and a release date are too few")
    at = codes("released", dates.filter(pl.Series(rows)).cast(pl.Date).to_physical().cast(pl.Int64))
    x = at.labels.to_numpy()[at.index].astype(np.float64)
    y = np.log2(hours[rows])
    dx, dy = x - x.mean(), y - y.mean()
    if not dx.any():
        return none("all agents were released on one day")
    slope = float((dx * dy).sum() / (dx * dx).sum())
    if slope <= 0:
        return none("horizons do not grow with release dates")
    if size < FEWEST:
        note = f"{with_noun(size, 'agent')}, too few for an interval: {FEWEST} are needed"
        return Estimate(name, 1 / slope, counts, unit=Unit.NUMBER, notes=(note,), conditional_on=given)
    left = dy - slope * dx
    error = math.sqrt(float((left * left).sum()) / (size - 2) / float((dx * dx).sum()))
    if error <= 1e-9 * slope:
        note = "all horizons lie on one line: an interval would have no width"
        return Estimate(name, 1 / slope, counts, unit=Unit.NUMBER, notes=(note,), conditional_on=given)
    half = student(how.level, size - 2) * error
    high = 1 / (slope - half) if slope > half else None
    method = "Student's t of the slope over agents"
    found = Estimate(
        name, 1 / slope, counts, 1 / (slope + half), high, how.level, method, unit=Unit.NUMBER, conditional_on=given
    )
    return found.noting("" if high else "horizons may not grow at all: no upper end")
