"""Open slots of an experiment on which people work."""

from __future__ import annotations

from dataclasses import dataclass

from worksample.records import Experiment, Instance, Slot, Worker
from worksample.results.assignments.assignment import assignment_of
from worksample.store import Store

from .assignment import SlotAssignment
from .shared_slot_turns import arm_of, waits_for_person


@dataclass(frozen=True, slots=True)
class OpenWork:
    """An open slot for a person. `waits`: it is the person's turn, else the agent's. `hours`: the task's estimate for
    people.
    """

    slot: Slot
    instance: Instance
    worker: Worker
    assignment: SlotAssignment
    waits: bool
    hours: float | None
    pay: float | None
    """US dollars per hour if the person's profile names no rate."""


def has_human_work(experiment: Experiment) -> bool:
    """Tell whether people work in any arm of the experiment."""
    return any(arm.worker is not Worker.AGENT for arm in experiment.arms)


def open_work_of(store: Store, experiment: Experiment) -> list[OpenWork]:
    """List the open slots of people, in the order of the plan."""
    if not has_human_work(experiment):
        return []
    found = []
    for slot in store.open_slots(experiment.id):
        worker = arm_of(experiment, slot).worker
        if worker is Worker.AGENT:
            continue
        instance = store.get(Instance, slot.instance)
        about = instance.about.hours
        found.append(
            OpenWork(
                slot=slot,
                instance=instance,
                worker=worker,
                assignment=assignment_of(store, slot.id),
                waits=waits_for_person(store, experiment, slot),
                hours=about.middle if about else None,
                pay=pay_of(experiment),
            )
        )
    return found


def pay_of(experiment: Experiment) -> float | None:
    """Return the experiment's hourly pay of people in US dollars, None if unknown."""
    said = (experiment.settings.get("people") or {}).get("pay")
    return None if said is None else float(said)


def days_of(experiment: Experiment) -> float:
    """Return the number of days for which a slot stays assigned to a person without a heartbeat."""
    return float((experiment.settings.get("people") or {}).get("seat_days", 14))
