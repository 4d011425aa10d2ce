"""Power of a study: the number of tasks and repeats needed to detect a difference, and the variances that determine
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from worksample.errors import UsageError
from worksample.metrics.column_checks import floats
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.shares_and_means import nothing_valid, structure, valid_rows
from worksample.metrics.scores.tiers import TrialColumns
from worksample.metrics.uncertainty.intervals import check_level, normal_quantile
from worksample.metrics.uncertainty.unit_intervals import zero_or_one

from .expected_power import TaskVariance, chance_to_find, most_points


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance of a trial's score by source: between tasks, between instances of a task, and between repeats of an
    instance.

    `shared` is the correlation between two agents' difficulties on the same tasks. A higher correlation makes a paired
    comparison more precise; 0 means that the two agents worked on independent tasks. `alike` says how close scores are
    to all or nothing. It is 1 for pass or fail; the three variances then add up to rate * (1 - rate).
    """

    task: float
    instance: float
    repeat: float
    shared: float = 0.0
    alike: float = 1.0

    def __post_init__(self) -> None:
        if min(self.task, self.instance, self.repeat) < 0 or not -1 <= self.shared <= 1 or not 0 <= self.alike <= 1:
            raise UsageError(
                f"a variance ({self.task}, {self.instance}, {self.repeat}) or correlation ({self.shared}) "
                "is out of range",
                next="pass variances of 0 or more, shared of -1..1 and alike of 0..1",
            )

    def work(self, instances: int = 1, repeats: int = 1) -> TaskVariance:
        """Return the variances of the difference of two agents on one task with `instances` instances and `repeats`
        repeats each.
        """
        if min(instances, repeats) < 1:
            raise UsageError(
                f"the number of instances ({instances}) or repeats ({repeats}) is too small",
                next="pass 1 or more of each",
            )
        within, whole = self.repeat / (instances * repeats), self.task + self.instance + self.repeat
        between = self.task + self.instance / instances
        return TaskVariance(between, within, whole, instances * repeats, self.shared, self.alike)


def planned_variances(rate: float, between_tasks: float = 0.5, shared: float = 0.5) -> Variances:
    """Return the variances of pass or fail for an assumed pass rate, before any data exist.

    `rate` is the pass rate of the first agent. `between_tasks` is the part of the variance rate * (1 - rate) that lies
    between tasks; the rest lies between repeats.
    """
    if not 0 < rate < 1 or not 0 <= between_tasks <= 1:
        raise UsageError(
            f"the pass rate {rate}, or its share {between_tasks} between tasks, is out of range",
            next="pass shares of 0..1",
        )
    whole = rate * (1 - rate)
    return Variances(whole * between_tasks, 0.0, whole * (1 - between_tasks), shared)


def variance_components(trials: TrialColumns) -> tuple[Variances, Estimate]:
    """Estimate, from one agent's trials, the variances by source and the share of the total variance that lies between
    tasks.

    The method of moments is used; a negative variance counts as 0. Repeats of an instance are needed to separate
    differences between instances from chance. Without repeats both count as variance between repeats, and the estimate
    says so. Raises UsageError for fewer than two tasks.
    """
    numbers, present = floats("score", trials.score, low=0, high=1)
    valid, counts = valid_rows("score", present, trials.state)
    if not counts.valid:
        raise UsageError(nothing_valid(counts), where="variance components", next="pass trials that are graded")
    h = structure(trials.task, trials.instance, valid)
    values = numbers[valid]
    tasks = h.tasks
    if tasks < 2:
        raise UsageError(
            "the variance between tasks cannot be estimated from one task",
            where="variance components",
            next="pass trials of two tasks or more",
        )
    means, task_means = h.instance_means(values), h.task_means(values)
    inside = float(((values - means[h.cell]) ** 2).sum())
    free = len(values) - len(means)
    repeat = inside / free if free else 0.0
    per_instance = repeat * (1 / h.repeats)
    of_task = h.of
    spread = (means - task_means[of_task]) ** 2
    inner_free = len(means) - tasks
    noise = float((per_instance * (1 - 1 / h.instances[of_task])).sum())
    instance = max(0.0, (float(spread.sum()) - noise) / inner_free) if inner_free else 0.0
    error = h.across(per_instance + instance) / h.instances**2
    between = float(task_means.var(ddof=1))
    alike = 1.0 if bool(((values == 0) | (values == 1)).all()) else zero_or_one(values)
    notes = () if free else ("no instance has repeats: chance cannot be separated from difficulty",)
    if not free:
        repeat, found = between, Variances(0.0, 0.0, between + instance, alike=alike)
    else:
        found = Variances(max(0.0, between - float(error.mean())), instance, repeat, alike=alike)
    whole = found.task + found.instance + found.repeat
    name = "variance between tasks"
    if whole == 0:
        return found, Estimate(name, None, counts, unit=Unit.SHARE, reason="every trial scored the same")
    return found, Estimate(name, found.task / whole, counts, unit=Unit.SHARE, notes=notes)


@dataclass(frozen=True, slots=True)
class Aim:
    """The goal of a study: to detect a true difference of `points` (0.03 is three points) with the probability `power`,
    by a test at confidence `level`.
    """

    points: float = 0.03
    power: float = 0.8
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0 < self.points <= 1 or not 0 < self.power < 1:
            raise UsageError(
                f"a difference of {self.points} or a power of {self.power} is out of range", next="pass shares of 0..1"
            )


def detectable(
    variances: Variances, tasks: int, *, instances: int = 1, repeats: int = 1, aim: Aim | None = None
) -> float | None:
    """Return the smallest true difference, as a share, that a planned study detects with the power of the aim
    (two-sided). Return None if the study detects no possible difference with this power.

    The first agent's pass rate follows from the variances; the second agent's rate is higher by the difference. For
    rates above one half it is lower by the difference, which is equivalent.
    """
    from scipy.optimize import brentq

    _refuse_none(tasks)
    goal, work = aim or Aim(), variances.work(instances, repeats)
    most = most_points(work)

    def short(points: float) -> float:
        return chance_to_find(work, tasks, points, goal.level) - goal.power

    if tasks < 2 or short(most) < 0:
        return None
    return float(brentq(short, 1e-6, most, xtol=1e-4)) if short(1e-6) < 0 else 1e-6


def tasks_needed(variances: Variances, aim: Aim | None = None, *, instances: int = 1, repeats: int = 1) -> Estimate:
    """Return the number of tasks needed to detect the aim's difference between two agents that work on the same tasks.

    Raises UsageError if the difference is impossible.
    """
    goal, work = aim or Aim(), variances.work(instances, repeats)
    _refuse_impossible(work, goal)
    # The number of tasks for a normal difference, at which the search begins.
    reach = normal_quantile((1 + goal.level) / 2) + normal_quantile(goal.power)
    few = many = max(2, math.ceil(work.variance * (reach / goal.points) ** 2))
    while chance_to_find(work, many, goal.points, goal.level) < goal.power:
        few, many = many, many + max(2, many // 20)
    while few > 1 and chance_to_find(work, few, goal.points, goal.level) >= goal.power:
        few, many = max(1, few - max(2, few // 20)), few
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (
            (few, middle) if chance_to_find(work, middle, goal.points, goal.level) >= goal.power else (middle, many)
        )
    said = f"{goal.points:.1%} difference, power {goal.power:.0%}, level {goal.level:.0%}, paired"
    counts = Counts(0, 0).having(instances=instances, repeats=repeats)
    method = "chance of the test of paired differences"
    return Estimate("tasks needed", float(many), counts, method=method, unit=Unit.COUNT, conditional_on=(said,))


def power_of(
    variances: Variances, tasks: int, *, instances: int = 1, repeats: int = 1, aim: Aim | None = None
) -> float:
    """Return the probability that `paired_difference` detects the aim's difference in the planned study (two-sided).

    Raises UsageError if the difference is impossible.
    """
    _refuse_none(tasks)
    goal, work = aim or Aim(), variances.work(instances, repeats)
    _refuse_impossible(work, goal)
    return chance_to_find(work, tasks, goal.points, goal.level) if tasks > 1 else 0.0


def _refuse_impossible(work: TaskVariance, goal: Aim) -> None:
    if goal.points > (most := most_points(work)):
        raise UsageError(
            f"a difference of {goal.points:.1%} is impossible if the first agent passes, or fails, "
            f"{1 - most:.1%} of the time",
            where="Aim.points",
            next=f"pass at most {most:.3g}",
        )


def _refuse_none(tasks: int) -> None:
    if tasks < 1:
        raise UsageError(f"the number of tasks, {tasks}, is too small", next="pass 1 or more")


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """A plan for a study with a given number of repeats: the number of tasks needed, the number of trials of one agent,
    and their cost in US dollars (None if the cost of a trial is unknown).
    """

    repeats: int
    tasks: int
    trials: int
    cost: float | None


def plans(
    variances: Variances,
    aim: Aim | None = None,
    *,
    instances: int = 1,
    most_repeats: int = 5,
    trial_cost: float | None = None,
) -> tuple[PowerPlan, ...]:
    """Return one plan for each number of repeats from 1 to `most_repeats`.

    More repeats save tasks only if chance, rather than the difficulty of tasks, causes most of the variance.
    """
    out = []
    for repeats in range(1, most_repeats + 1):
        needed = tasks_needed(variances, aim, instances=instances, repeats=repeats).value
        tasks = int(needed or 0)
        trials = tasks * instances * repeats
        out.append(PowerPlan(repeats, tasks, trials, None if trial_cost is None else trials * trial_cost))
    return tuple(out)


def with_correlation(variances: Variances, shared: float) -> Variances:
    """Return the variances with the correlation of the agents' difficulties set to `shared`."""
    return replace(variances, shared=shared)
