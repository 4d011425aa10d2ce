"""Coefficients of agreement, computed from sums over items. A resample is therefore only another weighting of items or
projects.
"""

from __future__ import annotations

import numpy as np

from worksample.metrics.column_checks import Flags, Floats


def item_sums(table: Floats, ends: tuple[int, int] | None) -> Floats:
    """Return the sums that the coefficients need, for each item, from the item's number of votes per category: an array
    of shape (items, q) for q categories.

    An item has q * q coincidences of categories, the q shares of its votes, and six more sums: whether it has a vote,
    whether it has two, the share of equal pairs, the number of ordered pairs, the number of equal pairs, and the number
    of pairs that contain both `ends`. `ends` are the positions of the two ends of the scale, or None if one end was
    never used.
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
    """Return the number of columns of `item_sums` for a scale with `size` values."""
    return size * size + size + 6


def _coincidences(sums: Floats, size: int) -> Floats:
    return sums[:, : size * size].reshape(len(sums), size, size)


def _share(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def share(sums: Floats) -> tuple[Floats, Floats]:
    """Return the number of equal pairs of votes on one item, and the number of all such pairs. Each pair counts in both
    orders.
    """
    return sums[:, -2], sums[:, -3]


def hard(sums: Floats) -> tuple[Floats, Floats]:
    """Return the number of pairs of votes that contain both ends of the scale, and the number of all pairs. Each pair
    counts in both orders.
    """
    return sums[:, -1], sums[:, -3]


def positive(sums: Floats, yes: Flags) -> tuple[Floats, Floats]:
    """Return, over all positive votes, the number of other positive votes on the same item, and the number of all other
    votes on the same item.
    """
    o = _coincidences(sums, len(yes))[:, yes]
    return o[:, :, yes].sum(axis=(1, 2)), o.sum(axis=(1, 2))


def alpha(sums: Floats, scale: Floats, metric: str) -> Floats:
    """Return Krippendorff's alpha: 1 minus observed disagreement divided by expected disagreement. `metric` is
    "nominal", "ordinal" or "interval".
    """
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
    """Return Gwet's first-order coefficient of agreement (AC1) for several evaluators. Return NaN if only one value of
    the scale was used.
    """
    if size < 2:
        return np.full(len(sums), np.nan)
    votes, paired = sums[:, -6], sums[:, -5]
    shares = sums[:, size * size : size * size + size] / np.maximum(votes, 1)[:, None]
    chance = (shares * (1 - shares)).sum(axis=1) / (size - 1)
    return np.where(paired > 0, (_share(sums[:, -4], paired) - chance) / (1 - chance), np.nan)
