"""Plans and their studies: how often what a plan says is seen four times in five is seen."""

from __future__ import annotations

from functools import cache

import numpy as np
from benchmarks.coverage_cells import Found, Rng
from scipy.special import betaincinv

from worksample import metrics as m

PLANS = {
    "2.5% pass": (0.025, 0.5, 0.5, 1),
    "25% pass": (0.25, 0.5, 0.5, 1), "25% pass, 3 repeats": (0.25, 0.5, 0.5, 3), "10% pass": (0.1, 0.5, 0.5, 1),
    "50% pass, tasks apart": (0.5, 0.5, 0.0, 1), "50% pass, hard or easy, 3 repeats": (0.5, 0.8, 1.0, 3),
}  # fmt: skip
"""Designs by name: the pass rate, the part of its variance between tasks, the part of that which is shared, repeats."""


@cache
def planned_points(design: str, n: int) -> float | None:
    """The difference that is seen four times in five by the plan; None where no agents of that rate can differ so."""
    rate, between, shared, repeats = PLANS[design]
    points = m.detectable(m.planned_variances(rate, between, shared), n, repeats=repeats)
    return points


def planned(rng: Rng, n: int) -> Found:
    """Studies of the size and difference that a plan says are found four times in five."""
    for design, (rate, between, shared, repeats) in PLANS.items():
        points, name = planned_points(design, n), f"planned for 80 %: {design}"
        if points is None:
            yield name, m.Estimate(name, None, m.Counts(0, 0), reason="no such difference"), 0.0
            continue
        easy, size = rng.random(n), 1 / between - 1
        other = np.where(rng.random(n) < shared, easy, rng.random(n))
        task, sides = np.arange(n).repeat(repeats), []
        for at, mean in ((easy, rate), (other, min(rate + points, 1 - 1e-9))):
            chance = betaincinv(mean * size, (1 - mean) * size, at)
            sides.append(m.TrialColumns((rng.random(len(task)) < chance[task]).astype(float), task))
        yield name, m.paired_difference(*sides).difference, points
