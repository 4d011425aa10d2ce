"""TheAgentCompany's scores: S_full, S_partial, per platform and per job category, steps (TAC 4.1, 7)."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from worksample.errors import ManifestError, UsageError
from worksample.metrics.column_checks import Column, Floats, codes, complete, floats, same_length
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling

from .shares_and_means import apply_by, mean_score, rate


def checkpoint_scores(trial: Column, result: Column, total: Column) -> pl.DataFrame:
    """Return one row per trial from one row per checkpoint: trial, result, total, full, partial.

    `result`: points awarded, null if a checkpoint could not be judged, which leaves the trial's three scores null.
    partial = 0.5 * result / total + 0.5 * full, with full = 1 if every checkpoint has all its points. Raises
    ManifestError for a trial whose points add up to 0 (an error in the task); UsageError for points above a
    checkpoint's total.
    """
    same_length(trial=trial, result=result, total=total)
    trials = codes("trial", trial)
    points, judged = floats("result", result, low=0)
    possible = complete("total", total, low=0)
    if (wrong := judged & (np.nan_to_num(points) > possible + 1e-9)).any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"row {row}: {points[row]:g} of {possible[row]:g} points is impossible",
            where="column 'result'",
            next="pass 0 <= result <= total",
        )
    sums = np.bincount(trials.index, weights=possible, minlength=trials.size)
    if (sums == 0).any():
        names = [trials.names()[i] for i in np.flatnonzero(sums == 0)[:5]]
        raise ManifestError(
            f"the checkpoints of {', '.join(names)} add up to 0 points",
            where="criteria",
            next="give a checkpoint points",
        )
    awarded = np.bincount(trials.index, weights=np.where(judged, points, 0.0), minlength=trials.size)
    missing = np.bincount(trials.index[~judged], minlength=trials.size) > 0
    short = np.bincount(trials.index[judged & (np.nan_to_num(points) < possible - 1e-9)], minlength=trials.size) > 0
    full = (~short).astype(np.float64)
    gap = pl.Series(missing)
    return pl.DataFrame(
        {
            "trial": trials.labels,
            "result": pl.Series(awarded).set(gap, None),
            "total": sums,
            "full": pl.Series(full).set(gap, None),
            "partial": pl.Series(partial_score(awarded / sums, full)).set(gap, None),
        }
    )


def partial_score(fraction: Floats, full: Floats) -> Floats:
    """Return S_partial from the share of points and S_full."""
    return 0.5 * fraction + 0.5 * full


def success_rate(
    full: Column,
    *,
    state: Column | None = None,
    task: Column | None = None,
    instance: Column | None = None,
    failed: Column | None = None,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the suite's success: the mean of S_full over tasks (see `rate`)."""
    return rate(full, state=state, task=task, instance=instance, failed=failed, name="success", how=how)


def suite_score(
    partial_scores: Column,
    *,
    state: Column | None = None,
    task: Column | None = None,
    instance: Column | None = None,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the suite's score: the mean of S_partial over tasks (see `mean_score`)."""
    return mean_score(partial_scores, state=state, task=task, instance=instance, name="score", how=how)


def by_group(
    full: Column,
    partial_scores: Column,
    group: Column,
    *,
    state: Column | None = None,
    task: Column | None = None,
    instance: Column | None = None,
    how: Resampling = DEFAULT,
) -> dict[str, tuple[Estimate, Estimate]]:
    """Return (success, score) per platform or job category (TAC Tables 4 and 5).

    `group` may be a list column: a task counts on every platform that it needs. Platforms overlap, so there is no total
    over them; each figure says so.
    """
    given = {"state": state, "task": task, "instance": instance}
    columns = {name: column for name, column in given.items() if column is not None}
    success = apply_by(partial(success_rate, how=how), group, {"full": full, **columns})
    scores = apply_by(partial(suite_score, how=how), group, {"partial_scores": partial_scores, **columns})
    return {name: (success[name], scores[name]) for name in success}


def mean_steps(
    steps: Column, *, task: Column | None = None, instance: Column | None = None, how: Resampling = DEFAULT
) -> Estimate:
    """Return model calls per task, the mean over tasks; null if they were not recorded."""
    floats("steps", steps, low=0)
    return mean_score(steps, task=task, instance=instance, name="steps", unit=Unit.NUMBER, how=how)
