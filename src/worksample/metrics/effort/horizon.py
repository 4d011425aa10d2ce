"""The length of work, in human hours, that an agent gets done half of the time, or four times in five."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.columns import Column, Flags, Floats, Ints, codes, flags, floats, same_length, series
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling, group_sums, weights
from worksample.metrics.uncertainty.intervals import expanded, percentiles

_DRAWS = 5_000_000
_STEEP = 60.0
"""Logits per doubling; a fit steeper than this has run into perfect separation."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """`horizons`: by success rate. `slope`: logits per doubling of the hours (negative: longer work succeeds less)."""

    horizons: dict[float, Estimate]
    slope: Estimate


def time_horizon(
    hours: Column,
    passed: Column,
    *,
    task: Column | None = None,
    at: tuple[float, ...] = (0.5, 0.8),
    how: Resampling = DEFAULT,
) -> Horizon:
    """Fit success by a logistic curve in log2 of the human hours; the horizon at q is where the curve is q.

    One row per trial of one agent; `hours` above 0, null where unknown; `passed` null where there is no verdict; with
    `task` each task weighs 1 however many trials it has, and the bootstrap is over tasks. None where success does not
    fall with hours, where hours separate successes from failures perfectly, or where all or none succeeded.
    """
    same_length(hours=hours, passed=passed, task=task)
    if not all(0 < q < 1 for q in at):
        raise UsageError(f"horizons at {at}", next="pass success rates between 0 and 1")
    length, known = floats("hours", hours, low=0.0)
    yes, judged = flags("passed", passed)
    if (wrong := known & (np.nan_to_num(length, nan=1.0) <= 0)).any():
        raise UsageError(f"row {int(np.flatnonzero(wrong)[0])} took 0 hours", where="column 'hours'")
    rows = known & judged
    counts = Counts(len(rows), int(rows.sum()), ungraded=int((~judged).sum())).having(
        without_hours=int((judged & ~known).sum()), passed=int((yes & rows).sum())
    )
    x, y, w = np.log2(length[rows]), yes[rows].astype(np.float64), np.ones(counts.valid)
    group = np.arange(counts.valid), counts.valid
    if task is not None:
        found = codes("task", series("task", task).filter(pl.Series(rows)))
        group = found.index, found.size
        w /= np.bincount(found.index, minlength=found.size)[found.index]
    reason = _unfit(x, y)
    fitted, good = np.zeros((1, 2)), np.array([False])
    if not reason:
        every = max(1, len(x) // 5000)
        rough, fine = _fit(x[::every], y[::every], w[None, ::every]) if every > 1 else (fitted, good)
        fitted, good = _fit(x, y, w[None], rough[0] if fine[0] else None)
    if not reason and not good[0]:
        reason = "hours separate successes from failures perfectly: the curve is a step"
    if not reason and fitted[0, 1] >= 0:
        reason = "success does not fall with hours"
    if reason:
        none = {q: Estimate(_name(q), None, counts, unit=Unit.HOURS, reason=reason) for q in at}
        return Horizon(none, Estimate("slope per doubling", None, counts, reason=reason))
    drawn, limit = _resampled((x, y, w), fitted[0], group, how)
    lost = int(np.isnan(drawn[:, 0]).sum())
    note = f"{lost} of {how.resamples} resamples have no falling curve, and count as beyond both ends" if lost else ""
    method = f"logistic in log2 hours, bootstrap over {'trials' if task is None else 'tasks'} ({how.resamples})"
    method += ", in its normal limit" if limit else ""
    out, wide = {}, expanded(how.level, group[1])
    for q in at:
        value = float(2.0 ** _where(fitted, q)[0])
        with np.errstate(over="ignore"):
            low, high = percentiles(2.0 ** _where(drawn, q), wide)
        ends = float(2 ** x.min()), float(2 ** x.max())
        beyond = "" if ends[0] <= value <= ends[1] else f"extrapolated: tasks took {ends[0]:.2g} to {ends[1]:.2g} hours"
        estimate = Estimate(_name(q), value, counts, low, high, how.level, method, unit=Unit.HOURS)
        out[q] = estimate.noting(beyond, note).given("success is logistic in log hours")
    low, high = percentiles(drawn[:, 1], wide)
    return Horizon(out, Estimate("slope per doubling", float(fitted[0, 1]), counts, low, high, how.level, method))


def _name(q: float) -> str:
    return f"{q:.0%} time horizon"


def _unfit(x: Floats, y: Floats) -> str:
    if len(x) < 2:
        return f"{len(x)} trials with hours and a verdict are too few"
    if y.min() == y.max():
        return "every trial passed" if y[0] else "no trial passed"
    return "all tasks took the same hours" if np.ptp(x) == 0 else ""


def _where(coefficients: Floats, q: float) -> Floats:
    """log2 hours at which the curve is q; NaN for a curve that does not fall."""
    falling = coefficients[:, 1] < 0
    slope = np.where(falling, coefficients[:, 1], -1)
    return np.where(falling, (np.log(q / (1 - q)) - coefficients[:, 0]) / slope, np.nan)


def _fit(x: Floats, y: Floats, w: Floats, start: Floats | None = None, enough: float = 1e-8) -> tuple[Floats, Flags]:
    """Weighted logistic regressions, one per row of `w`: (intercept, slope) each, and whether it converged: a step
    below `enough` leaves an error of its square.
    """
    centre, scale = float(x.mean()), max(float(x.std()), 1e-12)
    z = (x - centre) / scale
    beta = np.zeros((len(w), 2))
    if start is not None:
        beta += [start[0] + start[1] * centre, start[1] * scale]
    done = np.zeros(len(w), dtype=bool)
    weight, squared = w.sum(axis=1), z**2
    p, part = np.empty_like(w), np.empty_like(w)
    for _ in range(60):
        np.multiply(beta[:, 1:], z, out=p)
        p += beta[:, :1]
        np.clip(p, -500, 500, out=p)
        np.exp(np.negative(p, out=p), out=p)
        np.reciprocal(np.add(p, 1, out=p), out=p)
        np.subtract(y, p, out=part)
        part *= w
        g0, g1 = part.sum(axis=1), part @ z
        np.subtract(1, p, out=part)
        part *= p
        part *= w
        a, b, c = part.sum(axis=1), part @ z, part @ squared
        determinant = a * c - b * b
        fine = determinant > 1e-14 * weight**2
        safe = np.where(fine, determinant, 1)
        step = np.stack([(c * g0 - b * g1) / safe, (a * g1 - b * g0) / safe], axis=1)
        step = np.where(fine[:, None], np.clip(step, -2, 2), 0)
        beta += step
        done = fine & (np.abs(step).max(axis=1) < enough)
        if (done | ~fine).all():
            break
    slope = beta[:, 1] / scale
    good = done & (np.abs(slope) < _STEEP)
    return np.stack([beta[:, 0] - slope * centre, slope], axis=1), good


def _resampled(
    data: tuple[Floats, Floats, Floats], fitted: Floats, group: tuple[Ints, int], how: Resampling
) -> tuple[Floats, bool]:
    """Coefficients per resample, NaN where there is no falling curve, and whether they come from the normal limit."""
    x, y, w = data
    index, size = group
    if len(x) * how.resamples > _DRAWS:
        drawn = how.rng().multivariate_normal(fitted, _spread(data, fitted, group), size=how.resamples, method="eigh")
        return np.where(drawn[:, 1:] < 0, drawn, np.nan), True
    out = []
    step = max(1, 200_000 // max(len(x), 1))
    for block in weights(size, how):
        for start in range(0, len(block), step):
            found, good = _fit(x, y, block[start : start + step][:, index] * w, fitted, 1e-4)
            out.append(np.where((good & (found[:, 1] < 0))[:, None], found, np.nan))
    return np.concatenate(out), False


def _spread(data: tuple[Floats, Floats, Floats], fitted: Floats, group: tuple[Ints, int]) -> Floats:
    """Covariance of (intercept, slope) when tasks are resampled: the sandwich, clustered by task."""
    x, y, w = data
    design = np.stack([np.ones_like(x), x], axis=1)
    p = 1 / (1 + np.exp(-(design @ fitted)))
    bread = np.linalg.inv(design.T @ (design * (w * p * (1 - p))[:, None]))
    pull = group_sums(*group, *(design * (w * (y - p))[:, None]).T)
    return np.asarray(bread @ (pull.T @ pull) @ bread)
