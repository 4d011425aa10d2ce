"""Score against budget: an agent's score if no trial may use more than a given amount."""

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
    """The score if no trial could use more than `budget`."""

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
    """Return the mean score at each budget per trial (in US dollars, tokens or seconds, like `cost`).

    A trial that used more than the budget counts 0 there, since its state at that point is unknown. The curve never
    falls. Trials of unknown cost or without a score are left out and counted. Intervals as in `mean_score`.
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
    """Return which rows (agents) no other row beats: none scores more at the same or a lower cost, or as much at a
    lower cost.

    False if either value is unknown.
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
