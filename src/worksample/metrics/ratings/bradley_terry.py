"""Bradley-Terry models fitted by maximum likelihood, for one set of preferences or for many resamples of the set at
once.

All strengths are in nats: agent i beats agent j with probability 1 / (1 + exp(strength[j] - strength[i])).
"""

from __future__ import annotations

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Flags, Floats, Ints

_TOLERANCE = 1e-10
_CHORD_TOLERANCE = 1e-7
"""Tolerance of a fit, in nats. 400 points of Elo are 2.3 nats, so the tolerance is a fifty-thousandth of a point."""


class Pairs:
    """The two agents of each compared pair, with a precomputed matrix that every fit of these pairs uses."""

    def __init__(self, size: int, first: Ints, second: Ints) -> None:
        from scipy.sparse import csr_array

        self.size, self.first, self.second = size, first, second
        pairs = np.arange(len(first))
        ones = np.ones(len(first))
        self.incidence = csr_array(
            (
                np.concatenate([ones, -ones]),
                (np.concatenate([first, second]), np.concatenate([pairs, pairs])),
            ),
            shape=(size, len(first)),
        )

    def information(self, strength: Floats, weight: Floats, ridge: float) -> Floats:
        """Return the information matrix: the negative second derivative of the log likelihood.

        Adding a constant to all strengths does not change the likelihood. The matrix is modified in this direction so
        that it can be inverted.
        """
        p = _win_chance(strength[self.first] - strength[self.second])
        curve = weight * p * (1 - p)
        h = np.zeros((self.size, self.size))
        np.add.at(h, (self.first, self.second), -curve)
        h += h.T
        h[np.diag_indices(self.size)] -= h.sum(axis=1)
        scale = max(float(np.trace(h)), 1e-12) / self.size
        return np.asarray(h + ridge * np.eye(self.size) + scale / self.size)


def _win_chance(gap: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(gap, -700, 700))))


def _log_likelihood(pairs: Pairs, strength: Floats, preference: Floats, weight: Floats, ridge: float) -> float:
    gap = strength[pairs.first] - strength[pairs.second]
    likelihood = preference * -np.logaddexp(0, -gap) + (1 - preference) * -np.logaddexp(0, gap)
    return float((weight * likelihood).sum() - ridge / 2 * (strength**2).sum())


def fit(pairs: Pairs, preference: Floats, weight: Floats, *, ridge: float = 0.0, start: Floats | None = None) -> Floats:
    """Fit strengths in nats, with mean 0, by Newton's method with step halving.

    The win graph must be strongly connected, or `ridge` must be above 0. `ridge` is the precision of a normal prior on
    every strength. Raises UsageError if the method does not converge, which happens only if the graph is not connected.
    """
    strength = np.zeros(pairs.size) if start is None else start - start.mean()
    value = _log_likelihood(pairs, strength, preference, weight, ridge)
    for _ in range(200):
        p = _win_chance(strength[pairs.first] - strength[pairs.second])
        slope = pairs.incidence @ (weight * (preference - p)) - ridge * strength
        step = np.linalg.solve(pairs.information(strength, weight, ridge), slope)
        step -= step.mean()
        size = 1.0
        while True:
            trial = strength + size * step
            reached = _log_likelihood(pairs, trial, preference, weight, ridge)
            if reached >= value - 1e-12 * abs(value) or size < 1e-6:
                break
            size /= 2
        strength, value = trial, reached
        if float(np.abs(step).max(initial=0.0)) * size < _TOLERANCE:
            return np.asarray(strength - strength.mean())
    raise UsageError("the ratings do not converge", next="pass comparisons that connect all agents, or a ridge prior")


def fit_many(
    pairs: Pairs, preference: Floats, weight: Floats, solvable: Flags, base: tuple[Floats, Floats], ridge: float
) -> Floats:
    """Fit strengths to many resamples at once and return them as an array of shape (agents, resamples). Resamples that
    are not `solvable` get NaN.

    `preference` and `weight` have shape (pairs, resamples). `base` contains the strengths and the mean weights of the
    original data. All resamples are close to the original data, so the inverse of a single information matrix serves
    all. Each step is two sparse products and a small dense product, and reduces the error by a factor of about ten.
    Resamples that do not converge in this way are fitted one by one by Newton's method.
    """
    start, typical = base
    inverse = np.linalg.inv(pairs.information(start, typical, ridge))
    resamples = preference.shape[1]
    strength = np.repeat(start[:, None], resamples, axis=1)
    settled = np.zeros(resamples, dtype=bool)
    for _ in range(25):
        odds = np.exp(np.clip(strength, -300, 300))
        one = odds[pairs.first]
        one /= one + odds[pairs.second]
        np.subtract(preference, one, out=one)
        one *= weight
        slope = pairs.incidence @ one
        if ridge:
            slope -= ridge * strength
        step = inverse @ slope
        strength += step
        settled = np.abs(step).max(axis=0) < _CHORD_TOLERANCE
        if settled[solvable].all():
            break
    strength[:, ~solvable] = np.nan
    for column in np.flatnonzero(solvable & ~settled):
        strength[:, column] = fit(pairs, preference[:, column], weight[:, column], ridge=ridge, start=start)
    return np.asarray(strength - strength.mean(axis=0))
