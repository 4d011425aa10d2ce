"""Which rows people are to judge: at random within strata, never where a judge disagrees."""

from __future__ import annotations

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.columns import Column, Ints, codes


def draw_labels(stratum: Column, labels: int, *, seed: int = 0, least: int = 0) -> pl.Series:
    """A flag per row: `labels` of them at random, as many of each stratum as its share of the rows, to the nearest.

    `least`: from each stratum at least so many, or all of a smaller one; then more may be drawn in all. The same seed
    draws the same rows. Errors: UsageError for more labels than rows, or fewer than none.
    """
    strata = codes("stratum", stratum)
    rows = len(strata.index)
    if not 0 <= labels <= rows or least < 0:
        raise UsageError(f"{labels} labels of {rows} rows", next=f"pass 0 to {rows}, and least >= 0")
    chosen = np.zeros(rows, dtype=bool)
    chosen[draw(strata.index, labels, np.random.default_rng(seed), least)] = True
    return pl.Series("drawn", chosen)


def draw(stratum: Ints, labels: int, rng: np.random.Generator, least: int = 0) -> Ints:
    """Places of the rows drawn."""
    sizes = np.bincount(stratum)
    exact = sizes * labels / max(len(stratum), 1)
    take = np.floor(exact).astype(np.int64)
    # Largest remainders get what is left; equal ones by chance, so that no stratum is favoured by its name.
    order = np.lexsort((rng.random(len(sizes)), -(exact - take)))
    take[order[: labels - int(take.sum())]] += 1
    take = np.minimum(np.maximum(take, least), sizes)
    mixed = rng.permutation(len(stratum))
    mixed = mixed[np.argsort(stratum[mixed], kind="stable")]
    place = np.arange(len(stratum)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(mixed[place < np.repeat(take, sizes)])
