"""Coefficients of agreement as functions of sums over items, so that resamples are weights over items or projects."""

from __future__ import annotations

import numpy as np

from worksample.metrics.column_checks import Flags, Floats


def item_sums(table: Floats, ends: tuple[int, int] | None) -> Floats:
    """Return sums per item from its votes per category (items, q).

    They are the q * q coincidences, the q shares of its votes, and six more: whether it has a vote, whether it has two,
    its share of agreeing pairs, its ordered pairs, how many of them are equal, and how many contain both `ends`
    (positions of the two ends of the scale; None if one of them was never used).
    """
    votes = table.sum(axis=1)
    paired = votes >= 2
    others = np.where(paired, votes - 1, 1)
    coincide = table[:, :, None] * table[:, None, :]
    diagonal = np.arange(table.shape[1])
    coincide[:, diagonal, diagonal] -= table
    coincide = np.where(paired[:, None, None], coincide / others[:, None, None], 0.0)
    same = np.trace(coincide, axis1=1, axis2=2)
    shares = table / np.maximum(votes, 1)[:, None]
    pairs = np.where(paired, votes * (votes - 1), 0)
    hard = coincide[:, ends[0], ends[1]] * others * 2 if ends else np.zeros(len(table))
    more = [votes > 0, paired, same / np.maximum(votes, 1), pairs, same * others, hard]
    return np.column_stack([coincide.reshape(len(table), table.shape[1] ** 2), shares, *more]).astype(np.float64)


def width(size: int) -> int:
    """Return the number of columns of `item_sums` for a scale of `size` values."""
    return size * size + size + 6


def _coincidences(sums: Floats, size: int) -> Floats:
    return sums[:, : size * size].reshape(len(sums), size, size)


def _share(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def share(sums: Floats) -> tuple[Floats, Floats]:
    """Return the equal pairs of votes on one item, and all pairs (in both orders)."""
    return sums[:, -2], sums[:, -3]


def hard(sums: Floats) -> tuple[Floats, Floats]:
    """Return the pairs that contain both ends of the scale, and all pairs."""
    return sums[:, -1], sums[:, -3]


def positive(sums: Floats, yes: Flags) -> tuple[Floats, Floats]:
    """Return the number of positive votes among the other votes on the item of a positive vote, and the number of these
    other votes.
    """
    o = _coincidences(sums, len(yes))[:, yes]
    return o[:, :, yes].sum(axis=(1, 2)), o.sum(axis=(1, 2))


def alpha(sums: Floats, scale: Floats, metric: str) -> Floats:
    """Return Krippendorff's alpha, 1 - observed / expected disagreement; metric "nominal", "ordinal" or "interval"."""
    o = _coincidences(sums, len(scale))
    margin = o.sum(axis=2)
    votes = margin.sum(axis=1)
    distance = _distances(margin, scale, metric)
    observed = (o * distance).sum(axis=(1, 2))
    expected = (margin[:, :, None] * margin[:, None, :] * distance).sum(axis=(1, 2))
    return 1 - _share(observed * (votes - 1), expected)


def _distances(margin: Floats, scale: Floats, metric: str) -> Floats:
    if metric == "nominal":
        return np.asarray(1.0 - np.eye(len(scale)))[None]
    if metric == "ordinal":
        middle = np.cumsum(margin, axis=1) - margin / 2
        return (middle[:, :, None] - middle[:, None, :]) ** 2
    return ((scale[:, None] - scale[None, :]) ** 2)[None]


def ac1(sums: Floats, size: int) -> Floats:
    """Return Gwet's first-order coefficient for several evaluators; NaN on a scale with only one value in use."""
    if size < 2:
        return np.full(len(sums), np.nan)
    votes, paired = sums[:, -6], sums[:, -5]
    shares = sums[:, size * size : size * size + size] / np.maximum(votes, 1)[:, None]
    chance = (shares * (1 - shares)).sum(axis=1) / (size - 1)
    return np.where(paired > 0, (_share(sums[:, -4], paired) - chance) / (1 - chance), np.nan)
