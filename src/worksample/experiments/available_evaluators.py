"""Evaluators that a run can use: grader programs, which run in the run's kind of box, and the configured judge
models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from worksample.grading import Evaluators
from worksample.models import JudgeConfig, ModelService, Price, Roles, judges_of
from worksample.models.service_config import Services
from worksample.records import Experiment
from worksample.store import Store

from .model_check import service_of

if TYPE_CHECKING:
    from .experiment_runner import RunOptions


def evaluators_here(
    store: Store, experiment: Experiment | None, options: RunOptions, sandbox: str | None = None
) -> Evaluators:
    """Return the evaluators of a run. Graders may call the model of every role. Rounds are judged by the models that
    have a table `[judges.NAME]`.

    The earlier spending of a judge counts against its spending limit. `experiment` is None for work outside
    experiments. `sandbox` is the kind of box; None means the experiment's kind. Raises PlanError if a table is invalid.
    """
    box = sandbox or (experiment.lock.sandbox if experiment else "bubblewrap")
    roles = experiment.lock.roles if experiment else {}
    found = _roles(store, roles, options.judges, options.services, options.prices)
    if not found:
        return Evaluators(box)
    from worksample.grading.judges import charge_earlier_spending, judges_for
    from worksample.viewing import exhibits

    if experiment is not None:
        charge_earlier_spending(store, experiment.id, found)
    asked = {name: models for name, models in found.items() if name in options.judges}
    return Evaluators(box, judges_for(asked, exhibits), found)


def _roles(
    store: Store, roles: Mapping[str, str], judges: Mapping[str, JudgeConfig], services: Services,
    prices: Mapping[str, Price],
) -> Roles:  # fmt: skip
    found = judges_of(judges, roles, ModelService(prices=prices), store.blobs)
    return {
        name: tuple(replace(role, service=service_of(role.model, services, prices)) for role in models)
        for name, models in found.items()
    }
