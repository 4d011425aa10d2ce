"""Statistical power of a plan: the differences between two agents that the plan, or a larger plan, can detect."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from worksample.metrics import Aim, Estimate, detectable, tasks_needed

from .planning.experiment_plan import Plan
from .power_basis import Basis, guessed_basis

REPEATS = (1, 2, 3, 5)


@dataclass(frozen=True)
class PowerOutlook:
    """Power of a paired comparison of two agents. Differences are shares: 0.03 is three percentage points."""

    tasks: int
    instances: float
    """Mean number of instances per task."""
    repeats: int
    detectable: float | None
    """Smallest true difference between two agents that the plan detects with the required power. None if the plan can
    detect no difference, for example because it has few tasks.
    """
    aim: Aim
    needed: dict[int, int]
    """Numbers of tasks that are needed to detect the required difference, by number of repeats."""
    assumed: str

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return {
            "tasks": self.tasks,
            "instances_per_task": self.instances,
            "repeats": self.repeats,
            "detectable": self.detectable,
            "points": self.aim.points,
            "power": self.aim.power,
            "level": self.aim.level,
            "tasks_needed_by_repeats": {str(r): n for r, n in self.needed.items()},
            "assumed": self.assumed,
        }


def power_outlook(planned: Plan, aim: Aim | None = None, basis: Basis | None = None) -> PowerOutlook:
    """Compute the power of a plan for pass or fail. The calculation assumes that all tasks have equally many instances.
    Without `basis`, variances are guessed.
    """
    goal, basis = aim or Aim(), basis or guessed_basis()
    variances = basis.variances
    per_task = Counter(i.task for i in planned.inputs.instances)
    instances, repeats = fmean(per_task.values()), planned.inputs.repeats
    whole = max(1, round(instances))
    seen = None
    if len(per_task) > 1:
        seen = detectable(variances, len(per_task), instances=whole, repeats=repeats, aim=goal)
    needed = {r: _tasks(tasks_needed(variances, goal, instances=whole, repeats=r)) for r in sorted({*REPEATS, repeats})}
    return PowerOutlook(len(per_task), instances, repeats, seen, goal, needed, basis.assumed)


def _tasks(estimate: Estimate) -> int:
    return int(estimate.value or 0)
