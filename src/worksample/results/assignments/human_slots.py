"""The open slots of an experiment on which people work."""

from __future__ import annotations

from dataclasses import dataclass

from worksample.records import Experiment, Instance, Slot, Worker
from worksample.results.assignments.assignment import assignment_of
from worksample.store import Store

from .assignment import SlotAssignment
from .shared_slot_turns import arm_of, waits_for_person


@dataclass(frozen=True, slots=True)
class OpenWork:
    """An open slot on which people work. `waits` is true if it is the person's turn, and false if it is the agent's
    turn. `hours` is the task's estimate of a person's working time.
    """

    slot: Slot
    instance: Instance
    worker: Worker
    assignment: SlotAssignment
    waits: bool
    hours: float | None
    pay: float | None
    """Pay in US dollars per hour, used if the person's profile states no rate. None if the experiment states none."""


def has_human_work(experiment: Experiment) -> bool:
    """Return whether people work in any arm of the experiment."""
    return any(arm.worker is not Worker.AGENT for arm in experiment.arms)


def open_work_of(store: Store, experiment: Experiment) -> list[OpenWork]:
    """Return the open slots on which people work, in the order of the plan."""
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
    """Return the experiment's hourly pay for people in US dollars; None if the settings state no pay."""
    said = (experiment.settings.get("people") or {}).get("pay")
    return None if said is None else float(said)


def days_of(experiment: Experiment) -> float:
    """Return the number of days for which a slot stays assigned to an inactive person."""
    return float((experiment.settings.get("people") or {}).get("seat_days", 14))
