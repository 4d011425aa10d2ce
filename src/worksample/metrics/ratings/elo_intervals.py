"""Uncertainty of Elo scores from projects: the bootstrap that re-averages preferences (RLI B.2), and its preview."""

from __future__ import annotations

import numpy as np

from worksample.metrics.columns import Flags, Floats
from worksample.metrics.uncertainty.bootstrap import Resampling, weights

from .bradley_terry import Pairs, fit_many
from .connectivity import reach
from .pair_sums import PairSums

_BLOCK = 160_000
"""Pairs times resamples in work at once: what stays in the processor's cache."""
_DENSE = 40_000_000


def resampled(
    sums: PairSums, pairs: Pairs, base: Floats, how: Resampling, *, by_count: bool, ridge: float, anchor: int | None
) -> Floats:
    """Strengths (agents, resamples) in nats.

    A resample draws projects with replacement and averages every pair's preferences again: weights over projects
    times the sums per (project, pair). Where its win graph is not strongly connected, those connected with the anchor
    are rated among themselves, who only loses to them is at minus infinity, who only beats them at plus infinity, and
    the rest is NaN; without an anchor all are.
    """
    won, weight = sums.weighted(by_count=by_count)
    totals = np.bincount(sums.pair, weights=weight, minlength=sums.pairs).astype(np.float64)
    typical = totals if by_count else np.ones(sums.pairs)
    product = _product(sums, won, weight)
    block = max(32, _BLOCK // max(sums.pairs, 1))
    out = []
    for drawn in weights(sums.projects, how):
        for start in range(0, len(drawn), block):
            both = product(drawn[start : start + block])
            above, below = both[: sums.pairs], both[sums.pairs :]
            compared = below > 0
            preference = np.divide(above, below, out=np.full_like(above, 0.5), where=compared)
            heavy = below if by_count else compared.astype(np.float64)
            wins = compared & (preference > 0), compared & (preference < 1)
            solvable = np.ones(above.shape[1], dtype=bool) if ridge else _solvable(sums, *wins)
            fitted = fit_many(pairs, preference, heavy, solvable, (base, typical), ridge)
            if anchor is not None and not solvable.all():
                rest = np.flatnonzero(~solvable)
                part = preference[:, rest], heavy[:, rest], (wins[0][:, rest], wins[1][:, rest])
                fitted[:, rest] = _partly(sums, (base, typical), anchor, *part)
            out.append(fitted)
    return np.concatenate(out, axis=1)


def _partly(
    sums: PairSums,
    base: tuple[Floats, Floats],
    anchor: int,
    preference: Floats,
    heavy: Floats,
    wins: tuple[Flags, Flags],
) -> Floats:
    """Strengths where not all can be rated; resamples with the same agents connected are fitted together."""
    size = len(sums.agents)
    below, above = reach(size, (sums.first, sums.second), wins, anchor)
    out = np.full((size, preference.shape[1]), np.nan)
    out[(below & ~above).T] = -np.inf
    out[(above & ~below).T] = np.inf
    whole, which = np.unique(below & above, axis=0, return_inverse=True)
    for place, main in enumerate(whole):
        columns = np.flatnonzero(which.ravel() == place)
        kept = np.flatnonzero(main[sums.first] & main[sums.second])
        agents = np.flatnonzero(main)
        if len(agents) == 1:
            out[np.ix_(agents, columns)] = 0.0
            continue
        new = np.cumsum(main) - 1
        part = Pairs(len(agents), new[sums.first[kept]], new[sums.second[kept]])
        cells = np.ix_(kept, columns)
        good = np.ones(len(columns), dtype=bool)
        start = base[0][agents] - base[0][agents].mean(), base[1][kept]
        out[np.ix_(agents, columns)] = fit_many(part, preference[cells], heavy[cells], good, start, 0.0)
    return out


class _product:
    """Maps weights (resamples, projects) to sums of won and of weight, (2 * pairs, resamples)."""

    def __init__(self, sums: PairSums, won: Floats, weight: Floats) -> None:
        from scipy.sparse import csr_array

        rows = np.concatenate([sums.pair, sums.pair + sums.pairs])
        columns = np.concatenate([sums.project, sums.project])
        shape = (2 * sums.pairs, sums.projects)
        matrix = csr_array((np.concatenate([won, weight]), (rows, columns)), shape=shape)
        cells = shape[0] * shape[1]
        dense = cells <= _DENSE and matrix.nnz * 20 > cells
        if _exact_in_single(won, weight, sums.projects):
            matrix = matrix.astype(np.float32)
        self.matrix = matrix.toarray() if dense else matrix

    def __call__(self, drawn: Floats) -> Floats:
        return np.asarray(self.matrix @ drawn.T.astype(self.matrix.dtype), dtype=np.float64)


def _exact_in_single(won: Floats, weight: Floats, projects: int) -> bool:
    """Whether every sum over a resample is exact in single precision: multiples of 1/64 below 2**18."""
    fine = bool((won * 64 == np.floor(won * 64)).all() and (weight == np.floor(weight)).all())
    return fine and float(max(weight.max(initial=0), won.max(initial=0))) * projects < 2**17


def _solvable(sums: PairSums, forward: Flags, backward: Flags) -> Flags:
    open_ended = ~(forward & backward).all(axis=0)
    good = np.ones(forward.shape[1], dtype=bool)
    if open_ended.any():
        wins = forward[:, open_ended], backward[:, open_ended]
        below, above = reach(len(sums.agents), (sums.first, sums.second), wins, 0)
        good[open_ended] = (below & above).all(axis=1)
    return good


def sandwich(
    sums: PairSums, pairs: Pairs, strength: Floats, anchor: int | None, *, by_count: bool, ridge: float
) -> Floats:
    """Standard errors in nats of each strength minus the anchor's (or the mean), clustered by project.

    Each project's pull on the estimating equations, through the inverse information: no resampling, hence instant.
    """
    won, weight = sums.weighted(by_count=by_count)
    preference, total = sums.totals(by_count=by_count)
    p = 1 / (1 + np.exp(strength[pairs.second] - strength[pairs.first]))
    if by_count:
        pull, typical = won - weight * p[sums.pair], total
    else:
        pull = (won - weight * preference[sums.pair]) / total[sums.pair]
        typical = np.ones(sums.pairs)
    size = len(sums.agents)
    row, cells = sums.project * size, sums.projects * size
    slope = np.bincount(row + pairs.first[sums.pair], weights=pull, minlength=cells)
    slope -= np.bincount(row + pairs.second[sums.pair], weights=pull, minlength=cells)
    slope = slope.reshape(sums.projects, size)
    slope -= slope.mean(axis=0)
    inverse = np.linalg.inv(pairs.information(strength, typical, ridge))
    relative = inverse - (inverse.mean(axis=0) if anchor is None else inverse[anchor])
    scale = sums.projects / max(sums.projects - 1, 1)
    variance = ((relative @ (slope.T @ slope)) * relative).sum(axis=1)
    return np.asarray(np.sqrt(scale * np.maximum(variance, 0.0)))
