"""The ceiling p_max of pass@k fitted to data: with its interval, or with why there is none (UpBench D.2, D.3).

Model: a share p_max of jobs is feasible; a feasible job passes each attempt as if drawn without replacement from n
answers of which c pass. With p = c / n and u = 1 / n, u = 0 being independent attempts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.columns import Floats, how_many
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.intervals import expanded, percentiles

from .hazards import Histories

_FLAT = 0.01
"""Ceilings whose best log likelihood is this close to the maximum cannot be told from the best."""
_WIDE = 0.05
FEWEST = 20
"""Jobs that the bootstrap of a ceiling needs."""
_GRID = (200, 100)
_POOLS = (0.0, 0.05, 0.1, 0.2, 1 / 3, 0.5)


@dataclass(frozen=True, slots=True)
class CeilingFit:
    """`ceiling` and `per_attempt` (p, the chance of a feasible job) have values only where the data determine them;
    `compatible` is the range of ceilings that fit the data as well as the best.
    """

    ceiling: Estimate
    per_attempt: Estimate
    compatible: tuple[float, float] | None


def ceiling_bound(p1: float, p2: float) -> float:
    """The highest ceiling with which pass rates of exactly `p1` at k = 1 and `p2` at k = 2 are possible at all:
    p1**2 / (2 p1 - p2), capped at 1. With UpBench's 0.398 and 0.512 it is 0.558: the 0.57 of D.2 is out of reach.

    Errors: UsageError unless 0 < p1 <= p2 < 2 p1, outside of which no such model fits.
    """
    if not 0 < p1 <= p2 <= 1 or p2 >= 2 * p1:
        raise UsageError(f"no model of equal attempts gives {p1:g} and then {p2:g}", next="pass 0 < p1 <= p2 < 2 * p1")
    return min(1.0, p1 * p1 / (2 * p1 - p2))


def fit_ceiling(
    h: Histories, attempts: Literal["finite pool", "independent"] = "finite pool", how: Resampling = DEFAULT
) -> CeilingFit:
    """Fit by maximum likelihood to jobs' histories (see `histories`), with a bootstrap over jobs.

    "finite pool" is the paper's model with its three parameters, "independent" its limit with two. With fewer levels
    of k than parameters, or where ceilings more than 0.05 apart fit equally well, there is no value and the reason
    says so.
    """
    if attempts not in ("finite pool", "independent"):
        raise UsageError(f"attempts is {attempts!r}", next='pass "finite pool" or "independent"')
    parameters = 3 if attempts == "finite pool" else 2
    levels = how_many(h.at_risk() > 0) if h.jobs else 0
    counts = Counts(h.jobs + h.ungraded, h.jobs, ungraded=h.ungraded).having(levels_of_k=levels)
    given = (f"attempts: {attempts}", "feedback changes nothing but the number of attempts")
    if not h.jobs or not h.passed.any():
        return _none("no job" if not h.jobs else "no job ever passed", counts, given, None)
    grid = _Grid(levels, pools=_POOLS if parameters == 3 else (0.0,))
    data = np.concatenate([h.passed[:levels], h.failed[:levels]]).astype(np.float64)
    profile = grid.profile(data[None])[0]
    close = grid.ceilings[profile >= profile.max() - _FLAT]
    compatible = (float(close[0]), float(close[-1]))
    spread = f"ceilings from {compatible[0]:.2f} to {compatible[1]:.2f} fit equally well"
    if levels < parameters:
        reason = f"not identifiable: {parameters} parameters from {levels} levels of k; {spread}"
        return _none(reason, counts, given, compatible)
    if compatible[1] - compatible[0] > _WIDE:
        return _none(f"not identifiable: {spread}", counts, given, compatible)
    drawn = grid.fits(np.concatenate(h.resampled(how), axis=1)[:, _first(levels, h.attempts)])
    best = grid.refined(data)
    notes = (
        ("saturated: as many parameters as levels of k, nothing left to check the model",)
        if levels == parameters
        else ()
    )
    method = f"maximum likelihood, bootstrap over jobs ({how.resamples})"
    few = f"{h.jobs} jobs, too few for an interval of a ceiling: {FEWEST} are needed" if h.jobs < FEWEST else ""

    def figure(name: str, value: float, column: Floats) -> Estimate:
        if few:
            return Estimate(name, value, counts, unit=Unit.SHARE, notes=(*notes, few), conditional_on=given)
        low, high = percentiles(column, expanded(how.level, h.jobs))
        more = ("no ceiling at all is compatible as well",) if name == "ceiling" and (high or 0) >= 1 else ()
        return Estimate(
            name,
            value,
            counts,
            low,
            high,
            how.level,
            method,
            unit=Unit.SHARE,
            notes=(*notes, *more),
            conditional_on=given,
        )

    return CeilingFit(figure("ceiling", best[0], drawn[0]), figure("per attempt", best[1], drawn[1]), compatible)


def _first(levels: int, attempts: int) -> list[int]:
    return [*range(levels), *range(attempts, attempts + levels)]


def _none(reason: str, counts: Counts, given: tuple[str, ...], compatible: tuple[float, float] | None) -> CeilingFit:
    low, high = compatible or (None, None)
    method = "range of equally good fits" if compatible else ""
    ceiling = Estimate(
        "ceiling", None, counts, low, high, method=method, unit=Unit.SHARE, reason=reason, conditional_on=given
    )
    per_attempt = Estimate("per attempt", None, counts, unit=Unit.SHARE, reason=reason, conditional_on=given)
    return CeilingFit(ceiling, per_attempt, compatible)


class _Grid:
    """Log likelihoods of histories on a grid of (ceiling, p, u): linear in the counts, so resamples are one product."""

    def __init__(self, levels: int, pools: tuple[float, ...]) -> None:
        self.levels = levels
        self.ceilings = np.round(np.linspace(1 / _GRID[0], 1.0, _GRID[0]), 9)
        chances = np.linspace(1 / _GRID[1], 1.0, _GRID[1])
        self.shape = (len(self.ceilings), len(chances) * len(pools))
        self.chances = np.tile(chances, len(pools))
        self.pools = np.repeat(pools, len(chances))
        self.table = _log_chances(levels, self.ceilings[:, None], self.chances, self.pools)

    def _likelihood(self, data: Floats) -> Floats:
        flat = self.table.reshape(2 * self.levels, -1)
        return np.asarray(data @ flat).reshape(len(data), *self.shape)

    def profile(self, data: Floats) -> Floats:
        """Per ceiling the best log likelihood over the rest."""
        return np.asarray(self._likelihood(data).max(axis=2))

    def fits(self, data: Floats) -> tuple[Floats, Floats]:
        """The best ceiling and p of each row."""
        best = []
        step = max(1, 4_000_000 // int(np.prod(self.shape)))
        for start in range(0, len(data), step):
            block = self._likelihood(data[start : start + step])
            best.append(block.reshape(len(block), -1).argmax(axis=1))
        ceiling, rest = np.unravel_index(np.concatenate(best), self.shape)
        return self.ceilings[ceiling], self.chances[rest]

    def refined(self, data: Floats) -> tuple[float, float]:
        """The best ceiling and p, by halving the grid around the best point until it is fine to 1e-6."""
        place = int(self._likelihood(data[None])[0].argmax())
        row, rest = np.unravel_index(place, self.shape)
        centre = np.array([self.ceilings[row], self.chances[rest], self.pools[rest]])
        width = np.array([1 / _GRID[0], 1 / _GRID[1], 0.1 if len(set(self.pools)) > 1 else 0.0])
        offsets = np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        value = -np.inf
        while width.max() > 1e-7:
            points = np.clip(centre + offsets * width, [1e-9, 1e-9, 0.0], [1.0, 1.0, 0.5])
            table = _log_chances(self.levels, points[:, 0], points[:, 1], points[:, 2])
            scores = data @ table
            if scores.max() > value + 1e-12:
                value, centre = scores.max(), points[int(scores.argmax())]
            else:
                width = width / 2
        return float(centre[0]), float(centre[1])


def _log_chances(levels: int, ceiling: Floats, chance: Floats, pool: Floats) -> Floats:
    """log P(passed at k) for each k, then log P(failed k attempts): (2 * levels, ...), very low where impossible."""
    missed = np.ones(np.broadcast_shapes(ceiling.shape, chance.shape))
    passed, failed = [], []
    before = np.ones_like(missed)
    for k in range(levels):
        left = 1 - k * pool
        missed = missed * np.where(left > 0, np.clip((left - chance) / np.where(left > 0, left, 1), 0, 1), 0)
        after = 1 - ceiling * (1 - missed)
        passed.append(before - after)
        failed.append(after)
        before = after
    return np.log(np.maximum(np.stack([*passed, *failed]), 1e-300))
