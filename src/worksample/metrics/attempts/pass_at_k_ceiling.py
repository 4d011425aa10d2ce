"""The ceiling p_max of pass@k, fitted to data (UpBench D.2, D.3): the share of jobs that can be passed at all.

The value comes from a model in which a share p_max of the jobs is feasible. Each attempt at a feasible job draws an
answer, without replacement, from a pool of n answers, of which c pass. Its parameters are p = c / n and u = 1 / n; with
u = 0 the attempts are independent.

The interval does not assume that feasible jobs are alike. Each feasible job may have its own chance of passing, drawn
from a beta distribution. A job that seldom passes is hard to distinguish from a job that never passes, so data with few
attempts determine little more than the lower end of the interval.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Floats, count_flags
from worksample.metrics.counts import Counts, with_noun
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.intervals import normal_quantile

from .attempt_hazards import Histories

_FLAT = 0.01
"""Maximum distance of a ceiling's log likelihood from the maximum at which the ceiling still counts as fitting equally
well.
"""
_WIDE = 0.05
_GRID = (200, 100)
FEWEST = 10
"""Minimum number of jobs for an interval of a ceiling. With five jobs the interval contained the true ceiling in only
92 % of simulated benchmarks.
"""
_STEPS = 300
"""Maximum number of steps of the search around the best point of the grid. A search usually takes about 60."""
_POOLS = (0.0, 0.05, 0.1, 0.2, 1 / 3, 0.5)
_SPREADS = (64.0, 32.0, 16.0, 8.0, 5.6, 4.0, 2.8, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.125)
"""Values of a + b to try for the beta(a, b) distribution of the chances of feasible jobs. A small sum means that jobs
differ strongly from each other.
"""


@dataclass(frozen=True, slots=True)
class CeilingFit:
    """A fitted ceiling.

    `ceiling` is p_max, and `per_attempt` is the mean chance p that an attempt at a feasible job passes. Both have a
    value only if the data determine it in the model in which all feasible jobs are alike. Their intervals also hold if
    feasible jobs differ from each other. `compatible` is the range of ceilings that fit as well as the best ceiling if
    all feasible jobs are alike.
    """

    ceiling: Estimate
    per_attempt: Estimate
    compatible: tuple[float, float] | None


def ceiling_bound(p1: float, p2: float) -> float:
    """Return the highest possible ceiling for exact pass rates `p1` at k = 1 and `p2` at k = 2: p1**2 / (2 p1 - p2), at
    most 1.

    With UpBench's 0.398 and 0.512 the bound is 0.558, so the 0.57 of UpBench D.2 is impossible. Raises UsageError
    unless 0 < p1 <= p2 < 2 p1, because no model with a ceiling has other pass rates.
    """
    if not 0 < p1 <= p2 <= 1 or p2 >= 2 * p1:
        raise UsageError(
            f"no ceiling model is possible with pass rates of {p1:g} and then {p2:g}", next="pass 0 < p1 <= p2 < 2 * p1"
        )
    return min(1.0, p1 * p1 / (2 * p1 - p2))


def fit_ceiling(
    h: Histories, attempts: Literal["finite pool", "independent"] = "finite pool", how: Resampling = DEFAULT
) -> CeilingFit:
    """Fit the ceiling to jobs' histories (see `histories`) by maximum likelihood. Intervals come from the profile
    likelihood.

    "finite pool" is UpBench's model with three parameters (p_max, p, u). "independent" is the same model with u = 0.
    The value is missing, with a reason, if the histories have fewer attempts than the model has parameters, or if
    ceilings more than 0.05 apart fit equally well. The value assumes that all feasible jobs are alike; the interval
    also holds if they differ from each other.
    """
    if attempts not in ("finite pool", "independent"):
        raise UsageError(
            f"attempts={attempts!r} is not a known model of attempts", next='pass "finite pool" or "independent"'
        )
    parameters = 3 if attempts == "finite pool" else 2
    levels = count_flags(h.at_risk() > 0) if h.jobs else 0
    counts = Counts(h.jobs + h.ungraded, h.jobs, ungraded=h.ungraded).having(levels_of_k=levels)
    given = (
        f"attempts: {attempts}",
        "value: all feasible jobs have equal chances; interval: their chances may differ, by a beta distribution",
        "feedback changes nothing but the number of attempts",
    )
    if not h.jobs or not h.passed.any():
        return _none("no job" if not h.jobs else "no job ever passed", counts, given)
    alike = _Grid.alike(levels, _POOLS if parameters == 3 else (0.0,))
    data = np.concatenate([h.passed[:levels], h.failed[:levels]]).astype(np.float64)
    ends = _ends(data * h.evidence_share, (alike, _Grid.different(levels)), how.level)
    profile = alike.profile(data)
    close = alike.ceilings[profile >= profile.max() - _FLAT]
    compatible = (float(close[0]), float(close[-1]))
    spread = f"ceilings from {compatible[0]:.2f} to {compatible[1]:.2f} fit equally well"
    reason = ""
    notes: tuple[str, ...] = ()
    best: tuple[float | None, float | None] = (None, None)
    if levels < parameters:
        reason = f"not identifiable: {parameters} parameters from {levels} levels of k; {spread}"
    elif compatible[1] - compatible[0] > _WIDE:
        reason = f"not identifiable: {spread}"
    else:
        best = alike.refine(data)
        if levels == parameters:
            notes = ("saturated: as many parameters as levels of k, nothing left to check the model",)

    def figure(name: str, place: int) -> Estimate:
        if h.jobs * h.evidence_share < FEWEST:
            few = f"{with_noun(h.jobs, 'job')}, too few for an interval of a ceiling: {FEWEST} are needed"
            return Estimate(
                name, best[place], counts, unit=Unit.SHARE, reason=reason, notes=(*notes, few), conditional_on=given
            )
        low, high = ends[place]
        open_ = ("no upper end: some jobs may pass too seldom to be distinguished from those that never do",)
        more = open_ if name == "ceiling" and high >= 1 else ()
        return Estimate(
            name,
            best[place],
            counts,
            low,
            high,
            how.level,
            "profile likelihood",
            unit=Unit.SHARE,
            reason=reason,
            notes=(*notes, *more),
            conditional_on=given,
        )

    return CeilingFit(figure("ceiling", 0), figure("per attempt", 1), compatible)


def _ends(data: Floats, grids: tuple[_Grid, ...], level: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return two profile-likelihood intervals over all models: of the ceiling, and of the mean chance of a feasible
    job.

    Each end is extended to the next point of the grid.
    """
    tables = [grid.likelihood(data) for grid in grids]
    least = max(float(table.max()) for table in tables) - normal_quantile((1 + level) / 2) ** 2 / 2
    ceilings = np.concatenate(
        [grid.ceilings[(table >= least).any(axis=1)] for grid, table in zip(grids, tables, strict=True)]
    )
    chances = np.concatenate(
        [grid.chances[(table >= least).any(axis=0)] for grid, table in zip(grids, tables, strict=True)]
    )
    wide, step = 1 / _GRID[0], 1 / _GRID[1]
    return (
        (max(0.0, float(ceilings.min()) - wide), min(1.0, float(ceilings.max()) + wide)),
        (max(0.0, float(chances.min()) - step), min(1.0, float(chances.max()) + step)),
    )


def _none(reason: str, counts: Counts, given: tuple[str, ...]) -> CeilingFit:
    ceiling = Estimate("ceiling", None, counts, unit=Unit.SHARE, reason=reason, conditional_on=given)
    per_attempt = Estimate("per attempt", None, counts, unit=Unit.SHARE, reason=reason, conditional_on=given)
    return CeilingFit(ceiling, per_attempt, None)


class _Grid:
    """Log likelihoods of histories, computed on a grid of ceilings and models of feasible jobs.

    The log likelihood is linear in the counts of the histories. `chances` is the mean chance of an attempt in each
    model. `pools` is u in each model in which all feasible jobs are alike, and 0 in the other models.
    """

    def __init__(self, levels: int, chances: Floats, pools: Floats, failing: Floats) -> None:
        self.levels, self.chances, self.pools = levels, chances, pools
        self.ceilings = np.round(np.linspace(1 / _GRID[0], 1.0, _GRID[0]), 9)
        self.table = _log_chances(self.ceilings[:, None], failing[:, None, :])

    @classmethod
    @functools.lru_cache(maxsize=16)
    def alike(cls, levels: int, pools: tuple[float, ...]) -> _Grid:
        """Build the grid in which all feasible jobs have the same chance of passing and the same size of the pool of
        answers.
        """
        chances = np.linspace(1 / _GRID[1], 1.0, _GRID[1])
        p, u = np.tile(chances, len(pools)), np.repeat(pools, len(chances))
        return cls(levels, p, u, _failing_alike(levels, p, u))

    @classmethod
    @functools.lru_cache(maxsize=8)
    def different(cls, levels: int) -> _Grid:
        """Build the grid in which the chances of feasible jobs follow a beta distribution and attempts are
        independent.
        """
        means = np.linspace(1 / _GRID[1], 1.0, _GRID[1])
        mean, spread = np.tile(means, len(_SPREADS)), np.repeat(_SPREADS, len(means))
        k = np.arange(levels)[:, None]
        failing = np.cumprod(((1 - mean) * spread + k) / (spread + k), axis=0)
        return cls(levels, mean, np.zeros_like(mean), failing)

    def likelihood(self, data: Floats) -> Floats:
        """Return the log likelihoods of the data as an array of shape (ceilings, models)."""
        return np.asarray(np.tensordot(data, self.table, axes=1))

    def profile(self, data: Floats) -> Floats:
        """Return the best log likelihood over all models, for each ceiling."""
        return np.asarray(self.likelihood(data).max(axis=1))

    def refine(self, data: Floats) -> tuple[float, float]:
        """Return the best ceiling and the best p for feasible jobs that are alike.

        The search starts at the best point of the grid and halves its step until the step is at most 1e-7.
        """
        row, rest = np.unravel_index(int(self.likelihood(data).argmax()), self.table.shape[1:])
        centre = np.array([self.ceilings[row], self.chances[rest], self.pools[rest]])
        width = np.array([1 / _GRID[0], 1 / _GRID[1], 0.1 if len(set(self.pools)) > 1 else 0.0])
        offsets = np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        value = -np.inf
        for _ in range(_STEPS):  # along a flat ridge the steps would never end
            if width.max() <= 1e-7:
                break
            points = np.clip(centre + offsets * width, [1e-9, 1e-9, 0.0], [1.0, 1.0, 0.5])
            table = _log_chances(points[:, 0], _failing_alike(self.levels, points[:, 1], points[:, 2]))
            scores = data @ table
            if scores.max() > value + 1e-9:
                value, centre = scores.max(), points[int(scores.argmax())]
            else:
                width = width / 2
        return float(centre[0]), float(centre[1])


def _failing_alike(levels: int, chance: Floats, pool: Floats) -> Floats:
    """Return the probability that a feasible job fails its first k attempts, for k = 1..levels, if all feasible jobs
    are alike.
    """
    failing, missed = [], np.ones_like(chance)
    for k in range(levels):
        left = 1 - k * pool
        missed = missed * np.where(left > 0, np.clip((left - chance) / np.where(left > 0, left, 1), 0, 1), 0)
        failing.append(missed)
    return np.stack(failing)


def _log_chances(ceiling: Floats, failing: Floats) -> Floats:
    """Return the log probabilities of a job's possible outcomes: first "passed at attempt k" for each k, then "failed k
    attempts" for each k.

    The result has 2 * levels rows. Impossible outcomes have a very low number instead of minus infinity.
    """
    failed = 1 - ceiling * (1 - failing)
    before = np.concatenate([np.ones_like(failed[:1]), failed[:-1]])
    return np.asarray(np.log(np.maximum(np.concatenate([before - failed, failed]), 1e-300)))
