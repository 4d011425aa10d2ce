"""What a plan can show before anything is run: which differences between two agents it sees, and what more would."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from worksample.metrics import Aim, Estimate, detectable, tasks_needed

from .pilot import Basis, guessed_basis
from .planning.experiment_plan import Plan

REPEATS = (1, 2, 3, 5)


@dataclass(frozen=True)
class PowerOutlook:
    """Of a paired comparison of two agents of a plan. Shares: 0.03 is three percentage points."""

    tasks: int
    instances: float
    """Per task, the mean."""
    repeats: int
    detectable: float | None
    """The smallest true difference that is seen with the aim's power; None where there is none, as with few tasks."""
    aim: Aim
    needed: dict[int, int]
    """Repeats -> tasks that would see the aim's difference."""
    assumed: str

    def plain(self) -> dict[str, Any]:
        """For JSON."""
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
    """The outlook of a plan, for pass or fail; `basis` is by default a guess. Instances are taken as equally many per
    task.
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
