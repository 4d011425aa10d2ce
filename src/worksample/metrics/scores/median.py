"""The median over tasks of amounts (US dollars, seconds, tokens), which one endless trial does not move."""

from __future__ import annotations

import numpy as np

from worksample.metrics.columns import Column, floats, same_length
from worksample.metrics.counts import some
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling

from .rates import LEFT_OUT, nothing_valid, structure, valid_rows


def median_amount(
    amount: Column,
    *,
    task: Column | None = None,
    instance: Column | None = None,
    name: str = "median",
    unit: Unit = Unit.NUMBER,
    how: Resampling = DEFAULT,
) -> Estimate:
    """The median of tasks' means; null is ungraded. Its interval is exact, between two of the tasks (order statistics):
    from 6 tasks on at 95 %.
    """
    numbers, present = floats("amount", amount)
    same_length(amount=amount, task=task, instance=instance)
    valid, counts = valid_rows("amount", present, None)
    if not counts.valid:
        return Estimate(name, None, counts, unit=unit, reason=nothing_valid(counts))
    h = structure(task, instance, valid)
    means = np.sort(h.task_means(numbers[valid]))
    ends, note = _between(means, how.level)
    given = (LEFT_OUT,) if counts.valid < counts.planned else ()
    found = Estimate(name, float(np.median(means)), counts.having(tasks=h.tasks), *ends, unit, conditional_on=given)
    return found.noting(note)


def _between(ordered: np.ndarray, level: float) -> tuple[Interval, str]:
    """The narrowest pair of values, as far from one end as from the other, that holds the median at `level`."""
    from scipy.special import bdtr

    size = len(ordered)
    below = bdtr(np.arange(size // 2), size, 0.5)
    inside = int((below <= (1 - level) / 2).sum())
    if not inside:
        return Interval(), f"{some(size, 'task')}, too few for an interval of a median at {100 * level:g} %"
    low, high = float(ordered[inside - 1]), float(ordered[size - inside])
    note = "the tasks in the middle are all alike: the interval is one value" if low == high else ""
    return Interval(low, high, level, "order statistics of tasks"), note
