"""Intervals of Elo scores over projects: a bootstrap that averages the preferences of each resample again (RLI B.2),
and a faster sandwich estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from worksample.metrics.column_checks import Flags, Floats
from worksample.metrics.uncertainty.bootstrap import Resampling, weights

from .bradley_terry import Pairs, fit_many
from .connectivity import reach
from .pair_sums import PairSums

_BLOCK = 160_000
"""Number of pairs times resamples that are processed in one step, so that temporary data fit into the processor's
cache.
"""
_DENSE = 40_000_000
FITTED = 40
"""Number of resamples that are fitted exactly to measure the error of the faster linear approximation."""
_WORTH = 200
"""Number of resamples below which all are fitted exactly, without the linear approximation."""
MANY_PROJECTS, _WINS = 100, 20.0
_NOISE, _BIAS = 0.2, 0.1
"""Maximum random and mean error of the linear approximation, in standard errors. A random error of 0.2 widens an
interval by about 2 %.
"""


@dataclass(frozen=True)
class ProjectEffects:
    """Effect of each project on the estimating equations of the ratings.

    Effects are stored by pair if all pairs were compared in all projects, otherwise by agent. Column c of `each`
    (projects, columns) acts on agent i with the factor `on[c, i]`.
    """

    each: Floats
    on: Floats

    @classmethod
    def of(cls, sums: PairSums, pairs: Pairs, pull: Floats) -> ProjectEffects:
        """Build the effects from `pull`: for each cell (project, pair), how much its comparisons favour the pair's
        first agent over the fitted preference.
        """
        if sums.full and sums.pairs <= 2 * pairs.size:
            return cls(pull.reshape(sums.projects, sums.pairs), np.asarray(pairs.incidence.T.toarray()))
        row, cells = sums.project * pairs.size, sums.projects * pairs.size
        slope = np.bincount(row + pairs.first[sums.pair], weights=pull, minlength=cells)
        slope -= np.bincount(row + pairs.second[sums.pair], weights=pull, minlength=cells)
        each = np.asarray(slope.reshape(sums.projects, pairs.size), dtype=np.float64)
        return cls(each, np.eye(pairs.size))

    def covariance(self) -> Floats:
        """Return the covariance of the effects on the agents, summed over projects."""
        mean = self.each.mean(axis=0)
        return np.asarray(self.on.T @ (self.each.T @ self.each - len(self.each) * np.outer(mean, mean)) @ self.on)


@dataclass(frozen=True)
class Refit:
    """The ratings, and the data from which resamples of the projects are fitted. `base` contains the fitted strengths
    in nats.
    """

    sums: PairSums
    pairs: Pairs
    base: Floats
    by_count: bool
    ridge: float
    anchor: int | None

    @cached_property
    def _product(self) -> _WeightedSums:
        return _WeightedSums(self.sums, *self.sums.weigh(by_count=self.by_count))

    @cached_property
    def typical(self) -> Floats:
        """The mean weight of each pair over resamples."""
        if not self.by_count:
            return np.ones(self.sums.pairs)
        return self.sums.totals(by_count=True)[1]

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the information matrix. It converts effects on the estimating equations into changes of the
        strengths.
        """
        return np.asarray(np.linalg.inv(self.pairs.information(self.base, self.typical, self.ridge)))

    @cached_property
    def project_effects(self) -> ProjectEffects:
        """Effects of each project on the estimating equations."""
        sums, pairs, strength = self.sums, self.pairs, self.base
        won, weight = sums.weigh(by_count=self.by_count)
        preference, total = sums.totals(by_count=self.by_count)
        if self.by_count:
            preference = 1 / (1 + np.exp(strength[pairs.second] - strength[pairs.first]))
            total = np.ones(sums.pairs)
        if sums.full:
            # In a table the position of each pair is known.
            won, weight = (amount.reshape(sums.projects, sums.pairs) for amount in (won, weight))
            pull = won - (preference if sums.compared_once else weight * preference)
            pull /= total
            return ProjectEffects.of(sums, pairs, pull.ravel())
        return ProjectEffects.of(sums, pairs, (won - weight * preference[sums.pair]) / total[sums.pair])

    def approximate_resamples(self, drawn: Floats) -> Floats:
        """Return strengths of shape (agents, resamples) by the linear approximation: the sum of the influences of the
        drawn projects. It is a single matrix product.
        """
        pulls = self.project_effects
        found = self.base[:, None] + self.inverse @ (pulls.on.T @ ((drawn - 1) @ pulls.each).T)
        return np.asarray(found - found.mean(axis=0))

    def fit_resamples(self, drawn: Floats) -> Floats:
        """Return strengths of shape (agents, resamples) by fitting each resample exactly."""
        block = max(32, _BLOCK // max(self.sums.pairs, 1))
        return np.concatenate([self._fit_draws(drawn[k : k + block]) for k in range(0, len(drawn), block)], axis=1)

    def _fit_draws(self, drawn: Floats) -> Floats:
        sums = self.sums
        both = self._product(drawn)
        above, below = both[: sums.pairs], both[sums.pairs :]
        compared = below > 0
        preference = np.divide(above, below, out=np.full_like(above, 0.5), where=compared)
        preference = sums.clip_means(preference)
        heavy = below if self.by_count else compared.astype(np.float64)
        wins = compared & (preference > 0), compared & (preference < 1)
        solvable = np.ones(above.shape[1], dtype=bool) if self.ridge else _solvable(sums, *wins)
        start = self.base, self.typical
        fitted = fit_many(self.pairs, preference, heavy, solvable, start, self.ridge)
        if self.anchor is not None and not solvable.all():
            rest = np.flatnonzero(~solvable)
            part = preference[:, rest], heavy[:, rest], (wins[0][:, rest], wins[1][:, rest])
            fitted[:, rest] = _partly(sums, start, self.anchor, *part)
        return fitted


@dataclass(frozen=True)
class UnseenProjects:
    """Strengths under the assumption that unobserved projects exist and all have the same outcome for an agent. The
    agent's interval must include these strengths, because observed projects with equal outcomes do not exclude
    projects with other outcomes.

    The assumed share of such projects is the largest that could have stayed unobserved (at `level`, one-sided). An
    agent's mean preference p over n projects becomes p + (1 - p) w for wins, with w = 1 - ((1 - level) / 2)^(1/n). This
    w is Clopper and Pearson's upper end for an event that never happened.
    """

    refit: Refit
    level: float
    linear: bool
    """Whether to use the linear approximation, which is a single matrix product, instead of an exact fit."""

    @cached_property
    def _weight(self) -> Floats:
        """The share w of assumed unobserved projects, by agent."""
        tail = (1 - self.level) / 2
        return np.asarray(1 - tail ** (1 / np.maximum(self.refit.sums.per_agent[2], 1)))

    def strengths(self, tilts: Sequence[Mapping[int, bool]]) -> Floats:
        """Return strengths of shape (agents, tilts). Each tilt maps agents to the outcome of their unobserved projects:
        True if the agent wins all comparisons, False if it loses all.
        """
        block = max(1, _BLOCK // max(self.refit.sums.pairs, 1))
        return np.concatenate([self._block(tilts[k : k + block]) for k in range(0, len(tilts), block)], axis=1)

    def _block(self, tilts: Sequence[Mapping[int, bool]]) -> Floats:
        refit = self.refit
        sums = refit.sums
        before, total = sums.totals(by_count=refit.by_count)
        after = np.repeat(before[:, None], len(tilts), axis=1)
        for column, tilt in enumerate(tilts):
            for agent, wins in tilt.items():
                for side, toward in ((sums.first, float(wins)), (sums.second, float(not wins))):
                    mine = side == agent
                    # If both agents of a pair are tilted against each other, each tilt alone gives the same value.
                    moved = before[mine] + (toward - before[mine]) * self._weight[agent]
                    better = np.maximum if toward else np.minimum
                    after[mine, column] = better(after[mine, column], moved)
        weight = total if refit.by_count else np.ones(sums.pairs)
        if self.linear:
            slope = refit.pairs.incidence @ (weight[:, None] * (after - before[:, None]))
            found = refit.base[:, None] + refit.inverse @ slope
            return np.asarray(found - found.mean(axis=0))
        good, start = np.ones(len(tilts), dtype=bool), (refit.base, refit.typical)
        heavy = np.repeat(weight[:, None], len(tilts), axis=1)
        return fit_many(refit.pairs, after, heavy, good, start, refit.ridge)


def resample_strengths(refit: Refit, how: Resampling) -> tuple[Floats, float | None]:
    """Return strengths in nats for every resample, with shape (agents, resamples), and the largest error of the linear
    approximation. The error is None if every resample was fitted exactly.

    A resample draws projects with replacement and averages the preferences of every pair again. If comparisons are
    dense, strengths depend almost linearly on the drawn weights. Then only a few resamples are fitted; all are computed
    by the linear approximation and corrected by the mean error of the fitted ones.

    The win graph of a resample may not be strongly connected. Then agents connected with the anchor are rated among
    themselves. Agents that only lose to them get minus infinity, agents that only beat them plus infinity, and all
    others NaN. Without an anchor all agents get NaN.
    """
    blocks = weights(refit.sums.projects, how)
    first = next(blocks)
    error = _error_of_influences(refit, first[:FITTED]) if _dense(refit) and how.resamples >= _WORTH else None
    if error is None:
        return np.concatenate([refit.fit_resamples(drawn) for drawn in (first, *blocks)], axis=1), None
    mean, off = error
    return np.concatenate([refit.approximate_resamples(drawn) for drawn in (first, *blocks)], axis=1) + mean[
        :, None
    ], off


def _dense(refit: Refit) -> bool:
    """Return whether the linear approximation may be precise enough: every agent has so many wins and losses that no
    resample can lose all of either.
    """
    sums = refit.sums
    preference, total = sums.totals(by_count=True)
    won = np.bincount(sums.first, weights=preference * total, minlength=len(sums.agents))
    won += np.bincount(sums.second, weights=(1 - preference) * total, minlength=len(sums.agents))
    every = np.bincount(np.concatenate([sums.first, sums.second]), weights=np.tile(total, 2), minlength=len(won))
    return sums.projects >= MANY_PROJECTS and float(np.minimum(won, every - won).min()) >= _WINS


def _error_of_influences(refit: Refit, drawn: Floats) -> tuple[Floats, float] | None:
    """Return the mean error of the linear approximation for each agent, and the largest error that remains after the
    mean error is subtracted.

    Return None if the errors are too large: if for an agent the random error exceeds `_NOISE` or the mean error `_BIAS`
    standard errors.
    """
    exact, linear = refit.fit_resamples(drawn), refit.approximate_resamples(drawn)
    if not np.isfinite(exact).all():
        return None
    zero = slice(None) if refit.anchor is None else [refit.anchor]
    fitted, straight = (found - found[zero].mean(axis=0) for found in (exact, linear))
    apart = fitted - straight
    error = np.maximum(fitted.std(axis=1, ddof=1), 1e-12)
    noise = apart.std(axis=1, ddof=1)
    fine = (noise <= _NOISE * error) & (np.abs(apart.mean(axis=1)) <= _BIAS * error)
    if refit.anchor is not None:
        fine[refit.anchor] = True
    if not fine.all():
        return None
    left = np.abs(apart - apart.mean(axis=1, keepdims=True))
    return np.asarray((exact - linear).mean(axis=1)), float(left.max())


def _partly(
    sums: PairSums,
    base: tuple[Floats, Floats],
    anchor: int,
    preference: Floats,
    heavy: Floats,
    wins: tuple[Flags, Flags],
) -> Floats:
    """Return strengths for resamples in which not all agents can be rated. Resamples with the same set of connected
    agents are fitted together.
    """
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


class _WeightedSums:
    """A function that maps the weights of projects, (resamples, projects), to the sums of preferences and of weights
    for each pair, (2 * pairs, resamples).
    """

    def __init__(self, sums: PairSums, won: Floats, weight: Floats) -> None:
        from scipy.sparse import csr_array

        rows = np.concatenate([sums.pair, sums.pair + sums.pairs])
        columns = np.concatenate([sums.project, sums.project])
        shape = (2 * sums.pairs, sums.projects)
        kind = np.float32 if _exact_in_single(won, weight, sums.projects) else np.float64
        values = np.concatenate([won, weight]).astype(kind)
        cells = shape[0] * shape[1]
        if cells <= _DENSE and len(values) * 20 > cells:
            # A cell is one project and pair, so no two have the same position.
            matrix = np.zeros(shape, dtype=values.dtype)
            matrix[rows, columns] = values
            self.matrix: Any = matrix
        else:
            self.matrix = csr_array((values, (rows, columns)), shape=shape)

    def __call__(self, drawn: Floats) -> Floats:
        return np.asarray(self.matrix @ drawn.T.astype(self.matrix.dtype), dtype=np.float64)


def _exact_in_single(won: Floats, weight: Floats, projects: int) -> bool:
    """Return whether every sum over a resample is exact in single precision. It is if all values are multiples of 1/64
    and the sums stay below 2**18.
    """
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


def sandwich(refit: Refit) -> Floats:
    """Return the standard error in nats of each strength minus the anchor's strength (or the mean strength), clustered
    by project.

    The errors are computed from each project's effect on the estimating equations and the inverse of the information
    matrix. No resampling is needed.
    """
    inverse, projects = refit.inverse, refit.sums.projects
    relative = inverse - (inverse.mean(axis=0) if refit.anchor is None else inverse[refit.anchor])
    variance = ((relative @ refit.project_effects.covariance()) * relative).sum(axis=1)
    return np.asarray(np.sqrt(projects / max(projects - 1, 1) * np.maximum(variance, 0.0)))
