"""Selection of the experiments that a report covers, and the check whether their suite is private."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from worksample.errors import PlanError
from worksample.experiments.experiment_lookup import find_experiment
from worksample.records import IMPORTED, Agent, Experiment, Suite
from worksample.store import Store


def find_experiments(store: Store, names: Sequence[str] = ()) -> list[Experiment]:
    """Return the experiments with these names or ids, or the latest experiment if no name is given. Raises UsageError
    for an unknown name.
    """
    return [find_experiment(store, name) for name in names or [""]]


def heading_of(experiments: Sequence[Experiment]) -> str:
    """Return the names of the experiments as a heading. Experiments with the same name are listed with their ids."""
    names = [e.name for e in experiments]
    return ", ".join(e.name if names.count(e.name) == 1 else e.id for e in experiments)


def is_private(store: Store, experiments: Sequence[Experiment]) -> bool:
    """Return whether the suite is private, so that only aggregates may be shown."""
    locked = {e.lock.suite for e in experiments}
    return any(s.visibility == "private" for s in store.find(Suite) if s.id in locked)


def require_same_lock(experiments: Sequence[Experiment]) -> None:
    """Check that experiments were measured under equal conditions: the same instances, environment models and protocol.
    Raises PlanError if they were not.

    Several imports of the same set of tables count as one study, although each import contains different jobs.
    """
    first = experiments[0]
    imported = all(e.lock.sandbox == IMPORTED for e in experiments)
    for other in experiments[1:]:
        if imported and other.lock.protocol is first.lock.protocol:
            continue
        if other.lock.comparable != first.lock.comparable:
            differs = [
                name
                for name in ("instances", "roles", "protocol")
                if sorted(getattr(first.lock, name)) != sorted(getattr(other.lock, name))
            ]
            raise PlanError(
                f"{first.name} and {other.name} cannot share a report, because they were planned with "
                f"different settings ({', '.join(differs) or 'contents'})",
                next=f"worksample report {other.id}",
            )


def release_dates(store: Store) -> dict[str, date | None]:
    """Return the release date of each agent's model, by agent id. The date is None if it is unknown."""
    return {agent.id: agent.release_date for agent in store.find(Agent)}
