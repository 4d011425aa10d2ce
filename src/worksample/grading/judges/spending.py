"""Earlier spending of judges on an experiment. The caps of a judge apply to all runs of the experiment together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worksample.models import Roles
from worksample.records import Evaluation, Round, Usage

if TYPE_CHECKING:
    from worksample.store import Store


def charge_earlier_spending(store: Store, experiment: str, roles: Roles) -> None:
    """Count each role's usage in all earlier rounds of an experiment towards the role's caps. Usage of failed answers
    is included.
    """
    for round in store.find(Round, experiment=experiment):
        for evaluation in store.find(Evaluation, round=round.id):
            for name, used in judge_usage(evaluation).items():
                if name in roles:
                    roles[name][0].spent.add(used)


def judge_usage(evaluation: Evaluation) -> dict[str, Usage]:
    """Return the usage of judges in an evaluation, by role."""
    kept: dict[str, Any] = evaluation.record.get("usage", {})
    found = {name: Usage.model_validate(used) for name, used in kept.items()}
    return {name: used for name, used in found.items() if used.requests}
