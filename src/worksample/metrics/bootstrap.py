"""Resampling of independent units (projects, jobs, tasks): a resample is a vector of weights over units.

Everything that is a function of sums over units is computed for all resamples as weights @ sums: the data are read
once, however many resamples there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError

from .columns import Floats, Ints
from .intervals import check_level, percentiles

_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn. With 100 resamples an end of an Elo interval has a standard deviation of 11-12 points
    (RLI B.2 uses 100), hence 1,000; the same seed gives the same interval.
    """

    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.resamples < 2:
            raise UsageError(f"{self.resamples} resamples give no interval", next="pass 2 or more, 1,000 is usual")

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


DEFAULT = Resampling()


def weights(units: int, how: Resampling) -> Iterator[Floats]:
    """How often each unit stands in each resample, as blocks of (resamples, units); every row adds up to `units`."""
    rng = how.rng()
    step = max(1, _CHUNK // max(units, 1))
    for start in range(0, how.resamples, step):
        rows = min(step, how.resamples - start)
        drawn = rng.integers(0, units, size=(rows, units)) + np.arange(rows)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def group_sums(index: Ints, size: int, *columns: Floats) -> Floats:
    """Sums of each column per group: (size, columns)."""
    return np.stack([np.bincount(index, weights=c, minlength=size) for c in columns], axis=1)


def resampled_sums(sums: Floats, how: Resampling) -> Floats:
    """Sums over units (units, columns) in every resample: (resamples, columns).

    Units with the same sums are drawn together, as one multinomial over the distinct rows: a few patterns instead of
    millions of units.
    """
    units = len(sums)
    frame = pl.DataFrame(np.ascontiguousarray(sums), schema=[f"c{i}" for i in range(sums.shape[1])])
    patterns = frame.group_by(frame.columns, maintain_order=True).len("units")
    times = patterns["units"].to_numpy()
    distinct = patterns.drop("units").to_numpy().astype(np.float64)
    if len(distinct) * 4 <= units:
        drawn = how.rng().multinomial(units, times / units, size=how.resamples)
        return np.asarray(drawn @ distinct, dtype=np.float64)
    return np.concatenate([block @ sums for block in weights(units, how)])


def interval(sums: Floats, statistic: Callable[[Floats], Floats], how: Resampling) -> tuple[float | None, float | None]:
    """Percentile interval of a statistic of sums over units.

    `statistic` maps (n, columns) sums to n values, NaN where a resample has none.
    """
    if len(sums) < 2:
        return None, None
    with np.errstate(divide="ignore", invalid="ignore"):
        return percentiles(statistic(resampled_sums(sums, how)), how.level)


def ratio(numerator: int = 0, denominator: int = 1) -> Callable[[Floats], Floats]:
    """The statistic "one column's sum over another's", NaN where the other is 0."""

    def of(sums: Floats) -> Floats:
        below = sums[:, denominator]
        return np.where(below > 0, sums[:, numerator] / np.where(below > 0, below, 1.0), np.nan)

    return of
