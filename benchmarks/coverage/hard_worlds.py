"""Worlds that break what intervals take for granted, drawn like the others: their table says by how much."""

from __future__ import annotations

import numpy as np
from benchmarks.coverage.cells import Found, Rng, World
from benchmarks.coverage.worlds import beta

from worksample import metrics as m


def fated(rng: Rng, n: int) -> Found:
    """Twelve tasks of a category, or as many as there are, share one chance of 30 % in the mean."""
    category = np.arange(n) // 12
    passed = rng.random(n) < beta(rng, int(category[-1]) + 1, 0.3, 2.0)[category]
    yield "rate, categories share their fate: tasks as units", m.rate(passed), 0.3
    yield "rate, categories share their fate: `task` names the category", m.rate(passed, task=category), 0.3


def withheld(rng: Rng, n: int) -> Found:
    """Of failures a third is never graded, of successes one in ten."""
    good = rng.random(n) < 0.3
    lost = rng.random(n) < np.where(good, 0.1, 1 / 3)
    found = m.rate([None if gone else bool(yes) for gone, yes in zip(lost, good, strict=True)])
    yield "rate, failures are ungraded more often", found, 0.3
    if found.bounds is None:
        yield "... its best and worst case hold what was done", found, float(good.mean())
        return
    low, high = found.bounds
    told = m.Estimate("bounds", (low + high) / 2, found.counts, low, high, 0.95)
    yield "... its best and worst case hold what was done", told, float(good.mean())


def dear(rng: Rng, n: int) -> Found:
    """Prices and costs evenly over five orders of magnitude: one job outweighs all others."""
    price = 10 ** rng.uniform(0, 5, n)
    mean = (10**5 - 1) / (5 * np.log(10))
    passed = rng.random(n) < 0.3
    yield "share of dollars, prices over five orders", m.dollars_earned(price, passed).share, 0.3
    yield "cost per trial, costs over five orders", m.mean_score(price, unit=m.Unit.USD), mean
    cost = m.deployable_cost(passed, np.ones(n), price).cost
    yield "deployable cost, prices over five orders", cost, 1 + 0.7 * mean


def lenient(rng: Rng, n: int) -> Found:
    """Of three votes one is by a rater who says yes to all, the others err in one of ten."""
    good = rng.random(n) < 0.3
    votes = np.stack([np.where(rng.random(n) < 0.1, ~good, good) for _ in range(2)] + [np.ones(n, dtype=bool)])
    yield "rate, one rater of three says yes to all", m.rate(votes.sum(axis=0) >= 2), 0.3


def hidden(rng: Rng, n: int) -> Found:
    """Costs that hardly differ, and one in a hundred 30 times as high: most samples of a hundred tasks show none."""
    for spread in (0.3, 0.7):
        cost = np.exp(rng.normal(0, spread, n)) * np.where(rng.random(n) < 0.01, 30.0, 1.0)
        mean = 1.29 * float(np.exp(spread**2 / 2))
        found = m.mean_score(cost, unit=m.Unit.USD)
        yield f"cost per trial, 1% 30 times as dear, others within {np.exp(spread):.1f} times", found, mean


HARD: tuple[World, ...] = (fated, withheld, dear, lenient, hidden)
