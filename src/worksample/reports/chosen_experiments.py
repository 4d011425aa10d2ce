"""Which experiments a report is of, and what of them may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from worksample.errors import PlanError
from worksample.experiments.experiment_lookup import find_experiment
from worksample.records import IMPORTED, Agent, Experiment, Suite
from worksample.store import Store


def find_experiments(store: Store, names: Sequence[str] = ()) -> list[Experiment]:
    """Experiments by what people call them; without names the latest one. Raises UsageError."""
    return [find_experiment(store, name) for name in names or [""]]


def called(experiments: Sequence[Experiment]) -> str:
    """How they are called in a heading: by their names, those that share one by their ids."""
    names = [e.name for e in experiments]
    return ", ".join(e.name if names.count(e.name) == 1 else e.id for e in experiments)


def held_out(store: Store, experiments: Sequence[Experiment]) -> bool:
    """Whether the suite is private: then what is shown of it are aggregates alone."""
    locked = {e.lock.suite for e in experiments}
    return any(s.visibility == "private" for s in store.find(Suite) if s.id in locked)


def same_lock(experiments: Sequence[Experiment]) -> None:
    """Refuse to compare what was not measured alike: other instances, environment models or protocol.

    What came in by several deliveries of one set of tables is one study, though each brings jobs of its own.
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
                f"{first.name} and {other.name} differ in their locks ({', '.join(differs) or 'contents'})",
                next=f"worksample report {other.id}, each in its own report",
            )


def release_dates(store: Store) -> dict[str, date | None]:
    """When the model of each agent was released, by the agent's id; None where nobody said."""
    return {agent.id: agent.release_date for agent in store.find(Agent)}
