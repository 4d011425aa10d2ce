"""TheAgentCompany's scores: S_full and S_partial, by platform and by job category, and the number of steps (TAC 4.1,
7).
"""

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
    """Return the scores of each trial from one row per checkpoint, as a table with the columns trial, result, total,
    full, partial.

    `result` is the number of points awarded, null if the checkpoint could not be judged. A trial with such a checkpoint
    has no scores. full is 1 if every checkpoint has all its points, else 0. partial is 0.5 * result / total + 0.5 *
    full. Raises ManifestError if a trial's possible points add up to 0, which is an error in the task; UsageError if a
    checkpoint was awarded more points than it has.
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
    """Return S_partial: half the share of points plus half of S_full."""
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
    """Return the success rate of the suite: the mean of S_full over tasks (see `rate`)."""
    return rate(full, state=state, task=task, instance=instance, failed=failed, name="success", how=how)


def suite_score(
    partial_scores: Column,
    *,
    state: Column | None = None,
    task: Column | None = None,
    instance: Column | None = None,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the score of the suite: the mean of S_partial over tasks (see `mean_score`)."""
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
    """Return the success rate and the score for each platform or job category (TAC Tables 4 and 5).

    `group` may be a list column: a task then counts for every platform that it needs. Platforms overlap, so their
    figures must not be added up; a note on each figure says so.
    """
    given = {"state": state, "task": task, "instance": instance}
    columns = {name: column for name, column in given.items() if column is not None}
    success = apply_by(partial(success_rate, how=how), group, {"full": full, **columns})
    scores = apply_by(partial(suite_score, how=how), group, {"partial_scores": partial_scores, **columns})
    return {name: (success[name], scores[name]) for name in success}


def mean_steps(
    steps: Column, *, task: Column | None = None, instance: Column | None = None, how: Resampling = DEFAULT
) -> Estimate:
    """Return the mean number of model calls per task. `steps` is null if the calls of a trial were not recorded."""
    floats("steps", steps, low=0)
    return mean_score(steps, task=task, instance=instance, name="steps", unit=Unit.NUMBER, how=how)
