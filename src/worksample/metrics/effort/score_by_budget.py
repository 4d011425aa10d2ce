"""Score by budget: the score that an agent would have if no trial could use more than a given budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.metrics.column_checks import Column, complete, count_flags, floats, same_length
from worksample.metrics.estimate import Estimate
from worksample.metrics.scores.shares_and_means import mean_score
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """The mean score if no trial could use more than `budget`."""

    budget: float
    score: Estimate


def score_against_budget(
    cost: Column,
    score: Column,
    budgets: Column,
    *,
    task: Column | None = None,
    instance: Column | None = None,
    how: Resampling = DEFAULT,
) -> tuple[BudgetPoint, ...]:
    """Return the mean score for each budget per trial. Budgets have the unit of `cost`: US dollars, tokens or seconds.

    A trial that used more than the budget counts 0, since the state of its work when the budget was used up is unknown.
    The curve never falls. Trials without a score or a known cost are left out and counted. Intervals are computed as in
    `mean_score`.
    """
    same_length(cost=cost, score=score, task=task, instance=instance)
    spent, known = floats("cost", cost, low=0.0)
    numbers, judged = floats("score", score, low=0, high=1)
    rows = known & judged
    out = []
    for budget in np.unique(complete("budgets", budgets, low=0.0)).tolist():
        reached = np.where(rows & (np.nan_to_num(spent) <= budget), np.nan_to_num(numbers), 0.0)
        column = pl.Series(reached).set(pl.Series(~rows), None)
        estimate = mean_score(column, task=task, instance=instance, name=f"score at {budget:g}", how=how)
        within = count_flags(rows & (np.nan_to_num(spent) <= budget))
        given = "trials with a score and a known cost" if not rows.all() else ""
        note = f"{within} of {count_flags(rows)} trials stayed within the budget; the others count 0"
        out.append(BudgetPoint(budget, estimate.noting(note).conditional_on_more(given)))
    return tuple(out)


def frontier(cost: Column, score: Column) -> pl.Series:
    """Return a flag per row (agent) that is true if no other row is better.

    Another row is better if it has a higher score at the same or a lower cost, or an equal score at a lower cost. The
    flag is False if the row's score or cost is unknown.
    """
    same_length(cost=cost, score=score)
    spent, known = floats("cost", cost, low=0.0)
    reached, judged = floats("score", score)
    rows = np.flatnonzero(known & judged)
    best = np.zeros(len(spent), dtype=bool)
    highest, price = -np.inf, np.nan
    for row in rows[np.lexsort((-reached[rows], spent[rows]))]:
        if reached[row] > highest or (reached[row] == highest and spent[row] == price):
            best[row], highest, price = True, reached[row], spent[row]
    return pl.Series("frontier", best)
