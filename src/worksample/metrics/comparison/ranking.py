"""Ranking of many agents: tests of all pairs with Holm's correction, the resulting ranks, and probabilities of being
best.

The interval of an agent's rank follows from the number of agents that are significantly better or worse (Mogstad,
Romano, Shaikh and Wilhelm 2024). A bootstrap of ranks would give intervals that are too narrow if agents are nearly
equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Floats, Ints, codes, count_flags
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.tiers import TrialColumns
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling, weights
from worksample.metrics.uncertainty.mean_difference import MeanDifferenceTest, interval_of

from .paired_comparison import read_side

MOST_AGENTS = 60
"""Maximum number of agents in a ranking. More agents make too many pairs to read, and after the correction for so many
tests hardly any difference is significant.
"""


@dataclass(frozen=True, slots=True)
class PairTest:
    """A test of the difference `second` minus `first` between two agents.

    `p` is the two-sided p value of `paired_difference`. `holm` is p corrected for testing all pairs, so that the
    probability of any false alarm among them is at most 1 - level. `ahead` is the probability that `second` is better
    than `first`.
    """

    first: str
    second: str
    difference: Estimate
    p: float | None
    holm: float | None
    ahead: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking of agents.

    `ranks` gives each agent's rank: 1 is best, and equal agents share the mean of their ranks. `best` gives the share
    of resamples of tasks in which the agent is best; ties are split. `pairs` contains the test of every pair.
    """

    ranks: dict[str, Estimate]
    best: dict[str, Estimate]
    pairs: tuple[PairTest, ...]


def rank_agents(agents: Mapping[str, TrialColumns], how: Resampling = DEFAULT) -> Ranking:
    """Compare all agents with each other. Each pair is compared on the instances on which both agents have a valid
    trial.

    Raises UsageError for more than `MOST_AGENTS` agents.
    """
    if len(agents) > MOST_AGENTS:
        raise UsageError(
            f"{len(agents):,} agents are too many to compare: they make {len(agents) * (len(agents) - 1) // 2:,} pairs",
            next=f"choose at most {MOST_AGENTS} of them, such as --where agent=NAME",
        )
    table = _read_table(agents)
    found = [_pair(table, one, two, how.level) for one, two in combinations(range(len(agents)), 2)]
    known = [place for place, pair in enumerate(found) if pair.p is not None]
    for place, p in zip(known, holm([found[place].p or 0.0 for place in known]), strict=True):
        found[place] = replace(found[place], holm=p)
    with np.errstate(invalid="ignore"):
        order = dict(zip(table.names, (table.means.sum(axis=0) / table.has.sum(axis=0)).tolist(), strict=True))
    order = {name: mean for name, mean in order.items() if not np.isnan(mean)}
    ranks = {name: _rank(name, order, found, how.level, int(table.has[:, k].sum())) for k, name in enumerate(agents)}
    return Ranking(ranks, _best(table, how), tuple(found))


@dataclass(frozen=True, slots=True)
class _Table:
    """Scores of all agents as a table.

    `cells` has shape (instances, agents) and is NaN if the agent has no valid trial on the instance. `task` is the task
    of each instance. `means`, of shape (tasks, agents), is averaged over instances and is 0 if `has` is 0, that is, if
    the agent has no valid trial on the task. `alike` is `unit_intervals.zero_or_one` for each agent.
    """

    names: tuple[str, ...]
    cells: Floats
    task: Ints
    has: Floats
    means: Floats
    alike: tuple[float, ...]


def _read_table(agents: Mapping[str, TrialColumns]) -> _Table:
    sides = [read_side(trials) for trials in agents.values()]
    blank = pl.DataFrame(schema={"task": pl.String, "instance": pl.String})
    keys = pl.concat([blank, *(side.keys for side in sides)]).unique(maintain_order=True)
    cells = np.full((len(keys), len(sides)), np.nan)
    numbered = keys.with_row_index("place")
    for column, side in enumerate(sides):
        rows = side.keys.join(numbered, on=["task", "instance"], how="left", maintain_order="left")["place"]
        cells[rows.to_numpy(), column] = side.means()
    tasks = codes("task", keys["task"])
    known = ~np.isnan(cells)
    means, has = np.zeros((tasks.size, len(sides))), np.zeros((tasks.size, len(sides)))
    for column in range(len(sides)):
        inside = known[:, column]
        below = np.bincount(tasks.index[inside], minlength=tasks.size)
        above = np.bincount(tasks.index[inside], weights=cells[inside, column], minlength=tasks.size)
        means[:, column], has[:, column] = above / np.maximum(below, 1), below > 0
    alike = tuple(units.zero_or_one(side.values) if len(side.values) else 1.0 for side in sides)
    return _Table(tuple(agents), cells, tasks.index, has, means, alike)


def _pair(table: _Table, one: int, two: int, level: float) -> PairTest:
    first, second = table.names[one], table.names[two]
    gap = table.cells[:, two] - table.cells[:, one]
    both = ~np.isnan(gap)
    counts = Counts(len(gap), count_flags(both))
    name, given = f"{second} minus {first}", ("instances with a valid trial of both",)
    if not both.any():
        reason = "no instance has a valid trial of both"
        none = Estimate(name, None, counts, unit=Unit.POINTS, reason=reason, conditional_on=given)
        return PairTest(first, second, none, None, None, None)
    below = np.bincount(table.task[both])
    per_task = np.bincount(table.task[both], weights=gap[both])[below > 0] / below[below > 0]
    alike = (table.alike[one] + table.alike[two]) / 2
    shift = MeanDifferenceTest.of(per_task, alike) if len(per_task) > 1 else None
    ends, note = (Interval(), units.ONE_UNIT) if shift is None else interval_of(shift, level)
    counts = counts.having(tasks=len(per_task))
    found = Estimate(name, float(per_task.mean()), counts, *ends, Unit.POINTS, conditional_on=given).noting(note)
    if shift is None:
        return PairTest(first, second, found, None, None, None)
    return PairTest(first, second, found, shift.p, None, shift.ahead)


def holm(p: list[float]) -> list[float]:
    """Return p values after Holm's step-down correction: the probability of any false alarm among all tests is then at
    most that of a single test.
    """
    size = len(p)
    out, most = [0.0] * size, 0.0
    for place, index in enumerate(np.argsort(p, kind="stable")):
        most = max(most, min(1.0, (size - place) * p[index]))
        out[int(index)] = most
    return out


def _rank(name: str, order: Mapping[str, float], pairs: Sequence[PairTest], level: float, tasks: int) -> Estimate:
    counts = Counts(tasks, tasks).having(agents=len(order))
    if name not in order:
        return Estimate(name, None, Counts(0, 0), unit=Unit.NUMBER, reason="none of its work is graded")
    own = order[name]
    above = sum(value > own + 1e-12 for value in order.values())
    alike = sum(abs(value - own) <= 1e-12 for value in order.values())
    rank = above + (alike + 1) / 2
    found = Estimate(name, rank, counts, unit=Unit.NUMBER, digits=0 if rank == int(rank) else 1)
    mine = [pair for pair in pairs if name in (pair.first, pair.second) and pair.p is not None]
    if not mine:
        return found.noting("no two tasks in common with another agent: no interval")
    sure = [p <= 1 - level for p in holm([pair.p or 0.0 for pair in mine])]
    ahead = sum(s and ((p.ahead or 0.0) > 0.5) == (p.second == name) for s, p in zip(sure, mine, strict=True))
    low, high = 1 + sum(sure) - ahead, len(order) - ahead
    return replace(found, low=min(low, rank), high=max(high, rank), level=level, method="pairs with Holm's correction")


def _best(table: _Table, how: Resampling) -> dict[str, Estimate]:
    """Return each agent's probability of being best. The same resamples of tasks are used for all agents."""
    tasks, agents = table.has.shape
    reason = "only one agent was measured" if agents < 2 else "one task: no resamples" if tasks < 2 else ""
    won = np.zeros(agents)
    if not reason:
        for drawn in weights(tasks, how):
            won += _winners(drawn @ table.means, drawn @ table.has)
    return {
        name: Estimate(
            "best", None if reason else float(won[k]) / how.resamples, Counts(tasks, int(table.has[:, k].sum())),
            unit=Unit.SHARE, reason=reason, notes=() if reason else ("a share of resamples: no interval",),
        )
        for k, name in enumerate(table.names)
    }  # fmt: skip


def _winners(total: Floats, count: Floats) -> Floats:
    """Return the number of resamples in which each agent was best; ties are split."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(count > 0, total / count, -np.inf)
    top = mean >= mean.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((top / top.sum(axis=1, keepdims=True)).sum(axis=0))
