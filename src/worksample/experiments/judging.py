"""Whom a run can ask: programs in its kind of box, and the judge models that are configured for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from worksample.grading import Evaluators
from worksample.models import JudgeConfig, Price, Roles, Service, judges_of
from worksample.models.services import Services
from worksample.records import Experiment
from worksample.store import Store

from .model_check import service_of

if TYPE_CHECKING:
    from .run import RunOptions


def evaluators_here(store: Store, experiment: Experiment, options: RunOptions) -> Evaluators:
    """Graders may ask every role; rounds are judged by those that have a table of their own (`[judges.NAME]`).

    What judges spent in earlier runs counts against their caps. PlanError for a table that cannot be used.
    """
    found = _roles(store, experiment, options.judges, options.services, options.prices)
    if not found:
        return Evaluators(experiment.lock.sandbox)
    from worksample.grading.judges import charge, judges_for
    from worksample.viewing import exhibits

    charge(store, experiment.id, found)
    asked = {name: models for name, models in found.items() if name in options.judges}
    return Evaluators(experiment.lock.sandbox, judges_for(asked, exhibits), found)


def _roles(
    store: Store, experiment: Experiment, judges: Mapping[str, JudgeConfig], services: Services,
    prices: Mapping[str, Price],
) -> Roles:  # fmt: skip
    found = judges_of(judges, experiment.lock.roles, Service(prices=prices), store.blobs)
    return {
        name: tuple(replace(role, service=service_of(role.model, services, prices)) for role in models)
        for name, models in found.items()
    }
