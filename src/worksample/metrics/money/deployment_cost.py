"""Cost of a job with a deployed agent: the agent's work, the check of its deliverable, a human's work if the check
rejects it, and the loss if the check accepts bad work.

Autoflation uses the verdicts on all deliverables to take the cheapest good one. A buyer does not have these verdicts
before paying.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Floats, count_flags, flags, floats, money, same_length
from worksample.metrics.counts import Counts, with_noun
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling

from .dollars_earned import means_by_task, usable_prices


@dataclass(frozen=True, slots=True)
class Checking:
    """The check that every deliverable undergoes: its price in US dollars per deliverable, the rates at which it
    accepts good and bad work, and the loss in US dollars from each bad deliverable that it accepts. The defaults are
    a perfect check that costs nothing.
    """

    cost: float = 0.0
    accepts_good: float = 1.0
    accepts_bad: float = 0.0
    loss: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.accepts_good <= 1 and 0 <= self.accepts_bad <= 1):
            raise UsageError(
                "accepts_good and accepts_bad must be shares from 0 to 1",
                where="checking",
                next="accepts_good=0.98, accepts_bad=0.1",
            )
        if min(self.cost, self.loss) < 0 or not np.isfinite([self.cost, self.loss]).all():
            raise UsageError("cost and loss must be US dollars, 0 or more", where="checking", next="cost=5, loss=200")


@dataclass(frozen=True, slots=True)
class DeployableCost:
    """Cost per job in US dollars with the agent deployed and by the human alone, and the saving as a share of the
    human's cost. A negative saving means that the agent makes the job more expensive.
    """

    cost: Estimate
    human: Estimate
    saving: Estimate


def deployable_cost(
    passed: Column,
    ai_cost: Column,
    human_cost: Column,
    checking: Checking | None = None,
    *,
    illustrative: Column | None = None,
    include_illustrative: bool = False,
    task: Column | None = None,
    how: Resampling = DEFAULT,
) -> DeployableCost:
    """Return the mean cost per job with the agent deployed: AI cost + checking + (rejected) x human + (falsely
    accepted) x loss. The columns have one row per trial.

    With the default check the cost is AI + (1 - success) x human. Jobs without a verdict, an AI cost or a human price
    are left out and counted. Rows with the same `task` are averaged first, because a repeat is not a separate job.
    """
    check = checking or Checking()
    same_length(passed=passed, ai_cost=ai_cost, human_cost=human_cost, task=task)
    good, judged = flags("passed", passed)
    ai, has_ai = money("ai_cost", ai_cost)
    priced = usable_prices("human_cost", human_cost, illustrative, include=include_illustrative)
    rows = judged & has_ai & priced.usable
    counts = Counts(len(good), count_flags(rows), ungraded=count_flags(~judged)).having(
        without_an_ai_cost=count_flags(judged & ~has_ai), without_a_human_price=count_flags(judged & ~priced.usable)
    )
    given = (
        "jobs with a verdict, an AI cost and a human price",
        f"a check that costs ${check.cost:g}, accepts {check.accepts_good:.0%} of good and {check.accepts_bad:.0%} of"
        f" bad work, each bad one at a loss of ${check.loss:g}",
        *priced.says,
    )
    names = (("deployable cost", Unit.USD), ("human cost", Unit.USD), ("saving", Unit.SHARE))
    if not rows.any():
        reason = "no job has a verdict, an AI cost and a human price"
        return DeployableCost(
            *(Estimate(n, None, counts, unit=u, reason=reason, conditional_on=given) for n, u in names)
        )
    paid = ai + np.where(good, check.cost, check.cost + check.accepts_bad * check.loss)
    accepted = np.where(good, check.accepts_good, check.accepts_bad) * priced.prices
    paid, human, spared = means_by_task(task, rows, paid, priced.prices, accepted)
    counts = counts.having(tasks=len(human))
    told = counts, given
    saving = _saving(paid, human, spared, told, how)
    spent = paid + human - spared
    return DeployableCost(_per_job(names[0], spent, told, how), _per_job(names[1], human, told, how), saving)


FEWEST_SAVING = 100
"""Minimum number of tasks for the interval of a saving. With fewer tasks the interval contains the true saving too
seldom (79 % at 5 tasks, 89 % at 40), because prices and costs are skewed.
"""
_Told = tuple[Counts, tuple[str, ...]]


def _per_job(named: tuple[str, Unit], each: Floats, told: _Told, how: Resampling) -> Estimate:
    counts, given = told
    ends, note = units.amounts(each, how.level)
    return Estimate(named[0], float(each.mean()), counts, *ends, named[1], conditional_on=given).noting(note)


def _saving(paid: Floats, human: Floats, spared: Floats, told: _Told, how: Resampling) -> Estimate:
    """Return the saving as a share of the human's cost: the dollars `spared` on humans minus the dollars `paid` for the
    agent and its checks.

    The intervals of both parts are combined by the method of variance estimates recovery (Zou and Donner 2008).
    """
    counts, given = told
    if not (whole := float(human.sum())):
        reason = "the jobs cost a human nothing"
        return Estimate("saving", None, counts, unit=Unit.SHARE, reason=reason, conditional_on=given)
    gained, spent = float(spared.sum()) / whole, float(paid.sum()) / whole
    value = gained - spent
    if len(human) < FEWEST_SAVING:
        note = f"{with_noun(len(human), 'task')}, too few for an interval of a saving: {FEWEST_SAVING} are needed"
        return Estimate("saving", value, counts, unit=Unit.SHARE, notes=(note,), conditional_on=given)
    ends, note = units.share_of_sums(spared, human, how.level)
    if ends.low is None or ends.high is None:
        return Estimate("saving", value, counts, unit=Unit.SHARE, conditional_on=given).noting(note)
    cost, note = units.ratio_of_sums(paid, human, how.level)
    if cost.low is None and paid.any():
        return Estimate("saving", value, counts, unit=Unit.SHARE, conditional_on=given).noting(note)
    above, below = (0.0 if end is None else abs(end - spent) for end in (cost.high, cost.low))
    low, high = value - math.hypot(gained - ends.low, above), value + math.hypot(ends.high - gained, below)
    method = f"{ends.method}, and the ratio of costs by MOVER"
    return Estimate("saving", value, counts, low, high, ends.level, method, unit=Unit.SHARE, conditional_on=given)


def break_even_success(ai_cost: float, human_cost: float, checking: Checking | None = None) -> Estimate:
    """Return the success rate at which the deployed agent costs as much per job as the human. Above this rate the agent
    is cheaper.

    The estimate has no value if the agent is cheaper at no success rate in 0..1, or at every one.
    """
    check = checking or Checking()
    for name, amount in (("ai_cost", ai_cost), ("human_cost", human_cost)):
        floats(name, [amount], low=0.0)
    bad = ai_cost + check.cost + (1 - check.accepts_bad) * human_cost + check.accepts_bad * check.loss
    good = ai_cost + check.cost + (1 - check.accepts_good) * human_cost
    name, counts = "break-even success rate", Counts(0, 0)
    if bad <= human_cost:
        return Estimate(name, None, counts, unit=Unit.SHARE, reason="deploying is cheaper at every success rate")
    if good >= human_cost:
        return Estimate(name, None, counts, unit=Unit.SHARE, reason="deploying is cheaper at no success rate")
    note = "computed from the given mean costs: no interval"
    return Estimate(name, (bad - human_cost) / (bad - good), counts, unit=Unit.SHARE, notes=(note,))
