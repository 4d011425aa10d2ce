"""How often a corrected figure has to hold the truth, if it is to hold it often enough for every judge.

Fills the last columns of docs/data/calibration-cells.csv for cells above 97 %.
Rates: looked at are all intervals that rest on
what the judge passed in all, and on how often labels showed that it missed a pass or passed a fail; whose ends rise
with the first two and fall with the third; and that hold the truth in 93 % (95 %) of draws for judges of any kind. The
least that one of them can hold comes from an integer program (`least.py`). Scores of a judge that
never errs: those whose ends, where labels show no error, rise with the judge's mean, which may give nothing to perfect
work on a share that labels do not show; normal approximation. Labels alone can cover less, and are wider: the bounds
say nothing of those. For pairs and several agents there is no bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from benchmarks.coverage.corrected import CEILING, JUDGES, World, worlds
from benchmarks.coverage.least import smallest
from scipy.special import gammaln
from scipy.stats import binom

from worksample.metrics.calibration.label_sample import LabelKind

HOLDS = (0.93, 0.95)
SEEN = 5
"""Errors of each kind beyond which a draw counts as missed: that makes the bound lower, never higher."""
MOST = 650
"""States beyond which nothing is worked out."""
NODES = 200
RARE = 1e-6
SHARES = np.array([0, 0.03, 0.08, 0.15, 0.25, 0.4, 0.6, 0.8, 1])
NORMAL = NormalDist()


def states(world: World, judge: tuple[float, float]) -> np.ndarray:
    """The chance of (passes missed, fails passed, the judge's passes in all) where it errs so."""
    yes, no = judge
    jobs, labels, rate = world.jobs, world.labels, world.rate
    right, missed, wrong, failed = rate * yes, rate * (1 - yes), (1 - rate) * no, (1 - rate) * (1 - no)
    rest = binom.pmf(np.arange(jobs - labels + 1), jobs - labels, right + wrong)
    log = np.log(np.maximum([right, missed, wrong, failed], 1e-300))
    out = np.zeros((SEEN + 1, SEEN + 1, jobs + 1))
    for m in range(SEEN + 1):
        for f in range(SEEN + 1):
            left = labels - m - f
            passed = np.arange(left + 1)
            ways = (
                gammaln(labels + 1) - gammaln([m + 1, f + 1]).sum() - gammaln(passed + 1) - gammaln(left - passed + 1)
            )
            chance = np.exp(ways + m * log[1] + f * log[2] + passed * log[0] + (left - passed) * log[3])
            found = np.convolve(chance, rest)[: jobs + 1 - f]
            out[m, f, f : f + len(found)] = found
    return out


def rate(world: World, holds: float) -> float | None:
    """The least for a rate of one agent; None where there are too many states."""
    yes, no = JUDGES[world.judge]
    own = states(world, (yes, no))
    where = np.argwhere(own > RARE)
    if len(where) > MOST or own.sum() < holds:
        return None
    wide = (min(1.0, 0.35 / share) * SHARES for share in (world.rate, 1 - world.rate))
    misses, wrongs = (np.append(share, at) for share, at in zip(wide, (1 - yes, no), strict=True))
    at = tuple(where.T)
    family = np.array([states(world, (1 - miss, wrong))[at] for miss in misses for wrong in wrongs])
    place = {tuple(state): number for number, state in enumerate(where.tolist())}
    rises = [
        (number, place[higher])
        for (m, f, passes), number in place.items()
        for higher in ((m, f, passes + 1), (m + 1, f, passes), (m, f - 1, passes))
        if higher in place
    ]
    estimate = where[:, 2] / world.jobs + (where[:, 0] - where[:, 1]) / world.labels
    chance = own[at]
    found = smallest(np.array(rises), family, (chance, chance), estimate - world.rate, holds, gap=1e-2, nodes=NODES)
    return max(holds, found - (1 - float(chance.sum())))


def score(world: World, holds: float) -> float:
    """The least for scores of a judge that never errs."""
    error = math.sqrt(world.rate * (1 - world.rate) / 5 / world.jobs)
    missed = 0.0
    for most in (world.rate, 1 - world.rate):
        end = math.inf
        for share in np.linspace(0, most, 2000):
            unseen = (1 - share) ** world.labels
            if unseen > 1 - holds:
                end = min(end, error * NORMAL.inv_cdf((1 - holds) / unseen) - share)
        missed += NORMAL.cdf(end / error)
    return max(holds, 1 - missed)


def least(world: World) -> list[float]:
    """For each of `HOLDS`; empty where there is no bound."""
    if world.agents > 1 or (
        world.kind is not LabelKind.RATE and (world.kind, world.judge) != (LabelKind.SCORE, "right")
    ):
        return []
    found = [rate(world, holds) if world.kind is LabelKind.RATE else score(world, holds) for holds in HOLDS]
    return [f for f in found if f is not None]


def fill(rows: list[list[str]]) -> Iterator[list[str]]:
    """Put the bounds into rows above 97 % that have none; yield each row as its bound is found."""
    known = {world.row: world for world in worlds()}
    for row in rows:
        world = known.get(tuple(row[:5]))
        if world is None or float(row[5]) <= CEILING or row[7]:
            continue
        row[7:] = [f"{100 * found:.1f}" for found in least(world)] or ["", ""]
        yield row
