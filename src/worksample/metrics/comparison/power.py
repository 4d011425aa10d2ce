"""How many tasks and repeats it takes to see a difference, before anything is run; and the variances from data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from worksample.errors import UsageError
from worksample.metrics.columns import floats
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.rates import nothing_valid, structure, valid_rows
from worksample.metrics.scores.tiers import Trials
from worksample.metrics.uncertainty.intervals import check_level, normal_quantile


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance of a trial's score by where it comes from: between tasks, between a task's instances, between repeats.

    `shared`: the correlation between two agents' task (and instance) difficulties, which a paired comparison gains
    from; 0 is two independent sets of tasks.
    """

    task: float
    instance: float
    repeat: float
    shared: float = 0.0

    def __post_init__(self) -> None:
        if min(self.task, self.instance, self.repeat) < 0 or not -1 <= self.shared <= 1:
            raise UsageError(f"variances {self.task}, {self.instance}, {self.repeat}, correlation {self.shared}")

    def of_difference(self, tasks: int, instances: int = 1, repeats: int = 1) -> float:
        """The variance of the difference between two agents' mean scores."""
        unshared = 1 - self.shared
        per_task = unshared * (self.task + self.instance / instances) + self.repeat / (instances * repeats)
        return 2 * per_task / tasks


def planned_variances(rate: float, between_tasks: float = 0.5, shared: float = 0.5) -> Variances:
    """Variances of pass or fail at a pass rate guessed before any data: `between_tasks` is the part of rate * (1 -
    rate) that lies between tasks, the rest lies between repeats.
    """
    if not 0 < rate < 1 or not 0 <= between_tasks <= 1:
        raise UsageError(f"a pass rate of {rate} with {between_tasks} between tasks", next="pass shares of 0..1")
    whole = rate * (1 - rate)
    return Variances(whole * between_tasks, 0.0, whole * (1 - between_tasks), shared)


def variance_components(trials: Trials) -> tuple[Variances, Estimate]:
    """Variances from one agent's trials by the method of moments, and the share of the whole that lies between tasks.

    Negative components count as 0. Repeats of an instance are needed to tell its variance from chance: without them
    all of it is the repeats' (and the estimate says so). Errors: UsageError below two tasks.
    """
    numbers, present = floats("score", trials.score, low=0, high=1)
    valid, counts = valid_rows("score", present, trials.state)
    if not counts.valid:
        raise UsageError(nothing_valid(counts), where="variance components")
    h = structure(trials.task, trials.instance, valid)
    values = numbers[valid]
    tasks = h.tasks
    if tasks < 2:
        raise UsageError("one task has no variance between tasks", where="variance components")
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
    notes = () if free else ("no instance has repeats: chance cannot be told from difficulty",)
    if not free:
        repeat, found = between, Variances(0.0, 0.0, between + instance)
    else:
        found = Variances(max(0.0, between - float(error.mean())), instance, repeat)
    whole = found.task + found.instance + found.repeat
    name = "variance between tasks"
    if whole == 0:
        return found, Estimate(name, None, counts, unit=Unit.SHARE, reason="every trial scored the same")
    return found, Estimate(name, found.task / whole, counts, unit=Unit.SHARE, notes=notes)


@dataclass(frozen=True, slots=True)
class Aim:
    """What is to be seen: a difference of `points` (0.03 is three points), with `power`, at confidence `level`."""

    points: float = 0.03
    power: float = 0.8
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0 < self.points <= 1 or not 0 < self.power < 1:
            raise UsageError(f"{self.points} points with power {self.power}", next="pass shares of 0..1")

    @property
    def reach(self) -> float:
        """How many standard errors the difference must be."""
        return normal_quantile((1 + self.level) / 2) + normal_quantile(self.power)


def detectable(
    variances: Variances, tasks: int, *, instances: int = 1, repeats: int = 1, aim: Aim | None = None
) -> float:
    """The smallest true difference that a plan sees with the aim's power (two-sided, normal), as a share."""
    if min(tasks, instances, repeats) < 1:
        raise UsageError(f"{tasks} tasks, {instances} instances, {repeats} repeats", next="pass 1 or more of each")
    return (aim or Aim()).reach * math.sqrt(variances.of_difference(tasks, instances, repeats))


def tasks_needed(variances: Variances, aim: Aim | None = None, *, instances: int = 1, repeats: int = 1) -> Estimate:
    """How many tasks it takes to see the aim's difference between two agents on the same tasks."""
    goal = aim or Aim()
    one = detectable(variances, 1, instances=instances, repeats=repeats, aim=goal)
    need = max(2, math.ceil((one / goal.points) ** 2 - 1e-9))
    said = f"{goal.points:.1%} difference, power {goal.power:.0%}, level {goal.level:.0%}, paired"
    counts = Counts(0, 0).having(instances=instances, repeats=repeats)
    return Estimate("tasks needed", float(need), counts, method="normal", unit=Unit.COUNT, conditional_on=(said,))


def power_of(
    variances: Variances, tasks: int, *, instances: int = 1, repeats: int = 1, aim: Aim | None = None
) -> float:
    """The chance of seeing the aim's difference with this plan (two-sided, normal)."""
    goal = aim or Aim()
    error = math.sqrt(variances.of_difference(tasks, instances, repeats))
    if error == 0:
        return 1.0
    z, shift = normal_quantile((1 + goal.level) / 2), goal.points / error
    return 0.5 * math.erfc((z - shift) / math.sqrt(2)) + 0.5 * math.erfc((z + shift) / math.sqrt(2))


@dataclass(frozen=True, slots=True)
class Plan:
    """For some number of repeats: the tasks needed, the trials of one agent that makes, and their cost in US dollars
    (None where no cost is known).
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
) -> tuple[Plan, ...]:
    """One plan per number of repeats: more repeats save tasks only as far as chance, not difficulty, is the trouble."""
    out = []
    for repeats in range(1, most_repeats + 1):
        needed = tasks_needed(variances, aim, instances=instances, repeats=repeats).value
        tasks = int(needed or 0)
        trials = tasks * instances * repeats
        out.append(Plan(repeats, tasks, trials, None if trial_cost is None else trials * trial_cost))
    return tuple(out)


def with_correlation(variances: Variances, shared: float) -> Variances:
    """The same variances for agents whose difficulties correlate at `shared`."""
    return replace(variances, shared=shared)
