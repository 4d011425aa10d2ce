"""Task values at which AI alone, AI with human help, or a human alone is the best approach (UpBench 5.4.1).

The best approach has the highest expected value s * V - c, for chance of success s, task value V and cost c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, count_flags, flags, money, same_length
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling

from .dollars_earned import ILLUSTRATIVE, WITH_ILLUSTRATIVE, by_task


@dataclass(frozen=True, slots=True)
class Approach:
    """A way of doing a task. `success` is the chance of success in 0..1. `cost` is in US dollars per task and is paid
    even if the task fails.
    """

    name: str
    success: float
    cost: float

    def __post_init__(self) -> None:
        if not 0 <= self.success <= 1:
            raise UsageError(
                f"the success rate {self.success} is out of range",
                where=f"approach {self.name!r}",
                next="pass a share of 0..1",
            )
        if not (self.cost >= 0 and math.isfinite(self.cost)):
            raise UsageError(
                f"the cost {self.cost} is out of range",
                where=f"approach {self.name!r}",
                next="pass US dollars, 0 or more",
            )

    def expected_value(self, value: float) -> float:
        """Return the expected net value, in US dollars, of doing a task that is worth `value` US dollars if it
        succeeds.
        """
        return self.success * value - self.cost


@dataclass(frozen=True, slots=True)
class Region:
    """A range of task values in which `approach` is best: from `low` up to but not including `high`, in US dollars.
    `high` is None if the range has no upper end.
    """

    approach: str
    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """The best approach for every task value, as regions in ascending order of value. `never` lists approaches that are
    best at no value, and `notes` explain why.
    """

    regions: tuple[Region, ...]
    never: tuple[str, ...]
    notes: tuple[str, ...]

    def best(self, value: float) -> str:
        """Return the best approach for a task of this value in US dollars."""
        if not (value >= 0 and math.isfinite(value)):
            raise UsageError(f"the task value {value} is out of range", next="pass US dollars, 0 or more")
        return next(r.approach for r in self.regions if r.low <= value and (r.high is None or value < r.high))


def break_even(lower: Approach, higher: Approach) -> Estimate:
    """Return the task value V* = (c_H - c_L) / (s_H - s_L) at which two approaches have equal expected values. Above
    V*, the approach with the higher success is better.

    The estimate has no value if both approaches succeed equally often, or if the more expensive approach succeeds less
    often. A V* of 0 or less means that the approach with the higher success is also cheaper, and so better at every
    task value.
    """
    name = f"break-even of {lower.name} and {higher.name}"
    gain, extra = higher.success - lower.success, higher.cost - lower.cost
    counts = Counts(0, 0)
    if gain == 0:
        reason = f"{lower.name} and {higher.name} succeed equally often: the cheaper one is never worse"
        return Estimate(name, None, counts, unit=Unit.USD, reason=reason)
    if gain < 0:
        reason = f"{higher.name} succeeds less often than {lower.name}"
        return Estimate(name, None, counts, unit=Unit.USD, reason=reason)
    note = "computed from given rates and costs: no interval; break_even_from_jobs has one"
    return Estimate(name, extra / gain, counts, unit=Unit.USD, notes=(note,))


def decide_by_value(approaches: Sequence[Approach], *, nothing: bool = False) -> Decision:
    """Return the best approach for every task value from 0 upwards: the upper envelope of the expected values.

    At a break-even value the approach with the higher success is chosen (UpBench 5.4.1). `nothing` adds the choice of
    not doing the task, which is worth 0. UpBench's rule with three regions holds only if every approach has a region.
    If an approach has none, such as AI with human help if V*(AI, HITL) > V*(HITL, human), a note says that the rule
    must not be used.
    """
    names = [a.name for a in approaches]
    if not approaches or len(set(names)) < len(names):
        raise UsageError(
            "no approach was passed, or two have the same name",
            next=f"pass at least one approach, each with its own name (now: {names})",
        )
    lines = [*approaches, *([Approach("nothing", 0.0, 0.0)] if nothing else [])]
    current = max(lines, key=lambda a: (-a.cost, a.success))
    regions, low = [], 0.0
    while True:
        later = [
            ((b.cost - current.cost) / (b.success - current.success), -b.success, b)
            for b in lines
            if b.success > current.success
        ]
        if not later:
            regions.append(Region(current.name, low, None))
            break
        at, _, following = min(later, key=lambda item: item[:2])
        if at > low:
            regions.append(Region(current.name, low, at))
        low, current = max(at, low), following
    chosen = {r.approach for r in regions}
    never = tuple(a.name for a in lines if a.name not in chosen)
    notes = tuple(f"{name} is best at no value: the rule of consecutive thresholds does not apply" for name in never)
    return Decision(tuple(regions), never, notes)


def break_even_from_jobs(
    passed: tuple[Column, Column],
    cost: tuple[Column, Column],
    names: tuple[str, str],
    *,
    illustrative: Column | None = None,
    include_illustrative: bool = False,
    task: Column | None = None,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the break-even value V* from the same jobs done by two approaches. Each tuple contains the columns of the
    approach with lower success, then those of the approach with higher success, one row per job.

    Jobs without a verdict or a cost under either approach are left out and counted. Jobs with an `illustrative` cost
    are also left out unless `include_illustrative` is set. Rows with the same `task` count as one unit. The interval is
    Fieller's. It has no upper end if the second approach may not succeed more often than the first.
    """
    same_length(passed=passed[0], other=passed[1], cost=cost[0], other_cost=cost[1], task=task)
    (one, has_one), (two, has_two) = (flags(f"passed {n}", p) for n, p in zip(names, passed, strict=True))
    (low_cost, has_low), (high_cost, has_high) = (money(f"cost {n}", c) for n, c in zip(names, cost, strict=True))
    invented = np.zeros(len(one), dtype=bool) if illustrative is None else flags("illustrative", illustrative)[0]
    rows = has_one & has_two & has_low & has_high
    if not include_illustrative:
        rows &= ~invented
    counts = Counts(len(rows), count_flags(rows), ungraded=count_flags(~rows)).having(
        illustrative=count_flags(invented)
    )
    said = (WITH_ILLUSTRATIVE if include_illustrative else ILLUSTRATIVE,) if invented.any() else ()
    name = f"break-even of {names[0]} and {names[1]}"
    if not rows.any():
        reason = "no job has a verdict and a cost under both"
        return Estimate(name, None, counts, unit=Unit.USD, reason=reason, conditional_on=said)
    gains, extras = by_task(task, rows, two.astype(np.float64) - one, high_cost - low_cost)
    gain, extra = gains.sum(), extras.sum()
    if gain <= 0:
        reason = f"{names[1]} does not succeed more often than {names[0]}"
        return Estimate(name, None, counts, unit=Unit.USD, reason=reason, conditional_on=said)
    ends, note = units.fieller(extras, gains, how.level)
    return Estimate(name, float(extra / gain), counts, *ends, Unit.USD, conditional_on=said).noting(note)
