"""Bradley-Terry models fitted by maximum likelihood, for one set of preferences or for many resamples of it at once.

All strengths are in nats: agent i beats j with probability 1 / (1 + exp(strength[j] - strength[i])).
"""

from __future__ import annotations

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Flags, Floats, Ints

_TOLERANCE = 1e-10
_CHORD_TOLERANCE = 1e-7
"""Tolerance in nats; 400 points of Elo are 2.3 nats, so this is a fifty-thousandth of a point."""


class Pairs:
    """The agents that each pair compares, with precomputed data for fitting: built once, used by every fit."""

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
        """Return the negative second derivative of the log likelihood, made regular along the direction that shifts all
        strengths.
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
    """Fit strengths in nats with mean 0 by Newton's method with step halving.

    The graph must be strongly connected, or `ridge` above 0: a normal prior with precision `ridge` on every strength.
    Raises UsageError if it does not converge, which only an unconnected graph can cause.
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
    """Fit strengths (agents, resamples) for columns of `preference` and `weight` (pairs, resamples); NaN if not
    `solvable`.

    `base`: the strengths and the mean weights of the data themselves. Every resample is close to them, so one inverse
    of their information matrix serves all: a step is two sparse products and a small dense one, and each reduces the
    error by an order of magnitude. Resamples that have not converged after that are fitted one by one by Newton's
    method.
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
