"""Pairing two small groups of rows to the largest total."""

from __future__ import annotations

from collections.abc import Sequence

GROUP_LIMIT = 300
"""Rows of one side up to which the best pairing is found; beyond it rows pair in their order."""


def best_pairs(gain: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return pairs (row, column) of a gain matrix with the largest sum; min(rows, columns) of them.

    The Hungarian method (Kuhn 1955) with potentials, O(n^3).
    """
    if not gain or not gain[0]:
        return []
    rows, columns = len(gain), len(gain[0])
    if max(rows, columns) > GROUP_LIMIT:
        return [(i, i) for i in range(min(rows, columns))]
    if rows > columns:
        return sorted((r, c) for c, r in best_pairs([[gain[r][c] for r in range(rows)] for c in range(columns)]))
    return _assign(gain, rows, columns)


def _assign(gain: Sequence[Sequence[float]], rows: int, columns: int) -> list[tuple[int, int]]:
    row_price, column_price = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner = [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0], here = row, 0
        least = [float("inf")] * (columns + 1)
        came = [0] * (columns + 1)
        seen = [False] * (columns + 1)
        while owner[here]:
            seen[here] = True
            at, step, following = owner[here], float("inf"), 0
            for c in range(1, columns + 1):
                if seen[c]:
                    continue
                cost = -gain[at - 1][c - 1] - row_price[at] - column_price[c]
                if cost < least[c]:
                    least[c], came[c] = cost, here
                if least[c] < step:
                    step, following = least[c], c
            for c in range(columns + 1):
                if seen[c]:
                    row_price[owner[c]] += step
                    column_price[c] -= step
                else:
                    least[c] -= step
            here = following
        while here:
            owner[here], here = owner[came[here]], came[here]
    return sorted((owner[c] - 1, c - 1) for c in range(1, columns + 1) if owner[c])
