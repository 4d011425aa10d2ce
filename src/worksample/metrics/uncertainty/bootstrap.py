"""Resampling of independent units (projects, jobs, tasks). A resample is a vector of weights, one per unit.

A statistic that depends only on sums over units is computed for all resamples by the matrix product weights @ sums. So
the data are read only once, whatever the number of resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Floats, Ints

from .intervals import check_level, expanded_level, percentiles

_CHUNK = 4_000_000
_SHARED = 2_000_000
_DRAWS = 5_000_000
_SAMPLE = 512
"""Number of units that are examined first. If they have too many distinct sums, the search for equal units is
skipped.
"""


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of resampling. The same seed gives the same interval.

    The default is 1,000 resamples. With 100, as in RLI B.2, an end of an Elo interval varies by chance with a standard
    deviation of 11 to 12 points.
    """

    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.resamples < 2:
            raise UsageError(
                f"{self.resamples} resamples are too few for an interval", next="pass 2 or more, 1,000 is usual"
            )

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


DEFAULT = Resampling()


def weights(units: int, how: Resampling) -> Iterator[Floats]:
    """Yield the number of times that each unit occurs in each resample, in blocks of shape (resamples, units). Every
    row adds up to `units`.
    """
    if units * how.resamples <= _SHARED:
        yield _shared_weights(units, how.resamples, how.seed)
        return
    rng = how.rng()
    step = max(1, _CHUNK // max(units, 1))
    for start in range(0, how.resamples, step):
        rows = min(step, how.resamples - start)
        drawn = rng.integers(0, units, size=(rows, units)) + np.arange(rows)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


@lru_cache(maxsize=1)
def _shared_weights(units: int, resamples: int, seed: int) -> Floats:
    """Return the matrix of weights for this number of units. It is cached, so that all agents with equally many units
    share a matrix.
    """
    drawn = (
        np.random.default_rng(seed).integers(0, units, size=(resamples, units)) + np.arange(resamples)[:, None] * units
    )
    found = np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units).astype(np.float64)
    found.flags.writeable = False
    return found


def group_sums(index: Ints, size: int, *columns: Floats) -> Floats:
    """Return the sum of each column per group, with shape (size, columns)."""
    return columns_as_table(*(np.bincount(index, weights=c, minlength=size) for c in columns))


def columns_as_table(*columns: Floats | Ints) -> Floats:
    """Return columns as a table of shape (rows, columns). Each column is contiguous in memory, which makes sums of a
    column fast.
    """
    return np.asarray(np.stack(columns).T, dtype=np.float64)


class Interval(NamedTuple):
    """The interval of an `Estimate`. Its fields have the same order as the fields of `Estimate`. All fields are empty
    if there is no interval.
    """

    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    error: float | None = None
    """The standard error of the value; None if unknown."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Sums over units in every resample, with shape (resamples, columns), and the name of the method. With fewer than
    two units there are no resamples.
    """

    sums: Floats
    level: float
    method: str
    units: int

    def interval(self, statistic: Callable[[Floats], Floats]) -> Interval:
        """Return the percentile interval of a statistic. The statistic maps sums of shape (n, columns) to n values, NaN
        for a resample without a value.

        An interval of zero width is returned as empty.
        """
        if not len(self.sums):
            return Interval()
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = statistic(self.sums)
        low, high = percentiles(drawn, expanded_level(self.level, self.units))
        if (low is None and high is None) or (low is not None and high is not None and high - low < 1e-12):
            return Interval()
        return Interval(low, high, self.level, self.method, spread_of(drawn))


def resample_sums(sums: Floats, units: str, how: Resampling) -> Resampled:
    """Resample units and return their sums. `sums` has shape (units, columns), and `units` is the name of the units in
    the plural.

    Units with equal sums are drawn together, by one multinomial draw over the distinct sums. This is fast even for
    millions of units. If more than 5 million draws would be needed, the sums are drawn from the normal approximation of
    the bootstrap, and the method says so.
    """
    size = len(sums)
    method = f"bootstrap over {units} ({how.resamples})"
    if size < 2:
        return Resampled(np.zeros((0, sums.shape[1])), how.level, "", size)
    if len(np.unique(sums[:_SAMPLE], axis=0)) * 2 <= min(size, _SAMPLE):
        frame = pl.DataFrame(np.ascontiguousarray(sums), schema=[f"c{i}" for i in range(sums.shape[1])])
        patterns = frame.group_by(frame.columns, maintain_order=True).len("units")
        if len(patterns) * 4 <= size:
            distinct = patterns.drop("units").to_numpy().astype(np.float64)
            return resample_patterns(distinct, patterns["units"].to_numpy(), units, how)
    if size * how.resamples <= _DRAWS:
        drawn = np.concatenate([block @ sums for block in weights(size, how)])
        return Resampled(drawn, how.level, method, size)
    total = sums.sum(axis=0)
    apart = sums - total / size
    # A column that is the sum of others leaves an eigenvalue of 0, which rounding may make negative: no fault.
    drawn = how.rng().multivariate_normal(
        total, apart.T @ apart, size=how.resamples, method="eigh", check_valid="ignore"
    )
    return Resampled(drawn, how.level, f"{method}, in its normal limit", size)


def resample_patterns(distinct: Floats, times: Ints, units: str, how: Resampling) -> Resampled:
    """Resample units whose distinct sums are already known. `times` is the number of units with each of the distinct
    sums.
    """
    size = int(times.sum())
    drawn = how.rng().multinomial(size, times / size, size=how.resamples)
    method = f"bootstrap over {units} ({how.resamples})"
    return Resampled(np.asarray(drawn @ distinct, dtype=np.float64), how.level, method, size)


def weighted_sums(sums: Floats, times: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Return sums over units with random exponential weights (Rubin's Bayesian bootstrap, 1981), with shape (draws,
    columns).

    Each row of `sums` stands for as many equal units as `times` says. If more than 5 million draws would be needed, the
    sums are drawn from the normal approximation.
    """
    if len(sums) * draws <= _DRAWS:
        return np.asarray(rng.standard_gamma(times, (draws, len(sums))) @ sums, dtype=np.float64)
    spread = (times[:, None] * sums).T @ sums
    return rng.multivariate_normal(times @ sums, spread, size=draws, method="eigh", check_valid="ignore")


def spread_of(drawn: Floats) -> float | None:
    """Return the standard error over resamples. Return None if a resample has no value or if all values are equal."""
    if not np.isfinite(drawn).all() or len(drawn) < 2:
        return None
    return float(drawn.std(ddof=1)) or None


def ratio(numerator: int = 0, denominator: int = 1) -> Callable[[Floats], Floats]:
    """Return the statistic that divides the sum of one column by the sum of another. The statistic is NaN if the
    divisor is 0.
    """

    def of(sums: Floats) -> Floats:
        below = sums[:, denominator]
        return np.where(below > 0, sums[:, numerator] / np.where(below > 0, below, 1.0), np.nan)

    return of
