"""Effects of exchanging the model or the harness of an agent: the spread of rates while the other part is fixed (ALE
D.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Flags, Floats, Ints, codes, floats, same_length, series, text
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.choice_spread import (
    chance_variance,
    deviation_interval,
    expected_range,
    range_interval,
)
from worksample.metrics.uncertainty.unit_intervals import zero_or_one


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of exchanging one part of an agent, model or harness, while the other part is fixed.

    `spread` is the highest minus the lowest rate. `deviation` is the standard deviation of the rates, without the part
    that chance alone would cause. `rates` gives the rate of each choice on the tasks that all choices have in common.
    """

    fixed: str
    spread: Estimate
    deviation: Estimate
    rates: dict[str, float]


@dataclass(frozen=True, slots=True)
class Configurations:
    """Columns with one row per trial: harness, model, task, and credit in 0..1. Rows with a null credit are dropped."""

    harness: Column
    model: Column
    task: Column
    credit: Column


def model_effect(trials: Configurations, harness: str, how: Resampling = DEFAULT) -> Effect:
    """Return the spread of rates over the models that were run under one harness."""
    return _effect(trials, "harness", "model", harness, how)


def harness_effect(trials: Configurations, model: str, how: Resampling = DEFAULT) -> Effect:
    """Return the spread of rates over the harnesses that were run with one model."""
    return _effect(trials, "model", "harness", model, how)


def _effect(trials: Configurations, held: str, varied: str, value: str, how: Resampling) -> Effect:
    columns = {name: getattr(trials, name) for name in ("harness", "model", "task", "credit")}
    same_length(**columns)
    credit, known = floats("credit", trials.credit, low=0, high=1)
    stated = text(held, columns[held])
    fixed = (stated == value).to_numpy()
    if not fixed.any():
        there = stated.unique().sort().to_list()
        raise UsageError(
            f"no trial has {held} {value!r}", where=f"column {held!r}", next=f"one of {', '.join(there[:10])}"
        )
    rows = pl.Series(fixed & known)
    choices = codes(varied, series(varied, columns[varied]).filter(rows))
    tasks = codes("task", series("task", trials.task).filter(rows))
    table, common = _table(choices.index, tasks.index, credit[fixed & known], (choices.size, tasks.size))
    counts = Counts(int(fixed.sum()), int(rows.sum()), ungraded=int((fixed & ~known).sum())).having(
        choices=choices.size, common_tasks=int(common.sum()), tasks=tasks.size
    )
    given = (f"{held} {value}", "tasks with a valid trial of every choice")
    names = (f"{varied} spread", f"{varied} deviation")
    reason = (
        f"fewer than two values of {varied}" if choices.size < 2
        else "no task has a valid trial under every choice" if not common.any() else ""
    )  # fmt: skip
    if reason:
        none = [Estimate(n, None, counts, unit=Unit.SPREAD, reason=reason, conditional_on=given) for n in names]
        return Effect(value, none[0], none[1], {})
    shared = table[:, common]
    rates = shared.mean(axis=1)
    alike = zero_or_one(credit[fixed & known])
    spread, deviation = _figures(shared, alike, names, (counts, given), how.level)
    return Effect(value, spread, deviation, dict(sorted(zip(choices.names(), rates.tolist(), strict=True))))


def _table(
    choice: Ints,
    task: Ints,
    credit: Floats,
    shape: tuple[int, int],
) -> tuple[Floats, Flags]:
    """Return the mean credit per choice and task, and a flag per task that is true if every choice has a trial on the
    task.
    """
    cell = choice * shape[1] + task
    count = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    total = np.bincount(cell, weights=credit, minlength=shape[0] * shape[1]).reshape(shape)
    return total / np.maximum(count, 1), np.asarray((count > 0).all(axis=0))


def _figures(
    shared: Floats, alike: float, names: tuple[str, str], of: tuple[Counts, tuple[str, ...]], level: float
) -> tuple[Estimate, Estimate]:
    choices, tasks = shared.shape
    counts, given = of
    rates = shared.mean(axis=1)
    spread = Estimate(names[0], float(rates.max() - rates.min()), counts, unit=Unit.SPREAD, conditional_on=given)
    if tasks < 2:
        reason = "one common task: chance cannot be separated from effect"
        none = Estimate(names[1], None, counts, unit=Unit.SPREAD, reason=reason, conditional_on=given)
        return spread.noting("one common task: no interval"), none
    ends, chance = range_interval(shared, level, alike), chance_variance(shared)
    deviation = math.sqrt(max(0.0, float(rates.var(ddof=1)) - chance))
    within = deviation_interval(shared, level, ends)
    note = (
        "the highest minus the lowest is above 0 by chance alone: equal ones would show"
        f" {100 * expected_range(choices, chance):.1f} points on average"
    )
    return (
        replace(spread, **ends._asdict()).noting(note),
        Estimate(names[1], deviation, counts, *within, unit=Unit.SPREAD, conditional_on=given),
    )
