"""The slots of an experiment that wait for a person."""

from __future__ import annotations

from dataclasses import dataclass

from worksample.records import Experiment, Instance, Slot, Worker
from worksample.results.assignments.assignment import seat_of
from worksample.store import Store

from .assignment import Seat
from .turns import arm_of, waits_for_person


@dataclass(frozen=True, slots=True)
class PersonsPlace:
    """An open slot of a person. `waits`: the person can go on now, else it is the agent's turn. `hours`: the hours that
    people take, as the task says.
    """

    slot: Slot
    instance: Instance
    worker: Worker
    seat: Seat
    waits: bool
    hours: float | None
    pay: float | None
    """US dollars per hour, if the person's profile names no pay rate."""


def has_places(experiment: Experiment) -> bool:
    """Return whether people work in the experiment."""
    return any(arm.worker is not Worker.AGENT for arm in experiment.arms)


def places_of(store: Store, experiment: Experiment) -> list[PersonsPlace]:
    """Return the open slots of people, in the order of the plan."""
    if not has_places(experiment):
        return []
    found = []
    for slot in store.open_slots(experiment.id):
        worker = arm_of(experiment, slot).worker
        if worker is Worker.AGENT:
            continue
        instance = store.get(Instance, slot.instance)
        about = instance.about.hours
        found.append(
            PersonsPlace(
                slot=slot,
                instance=instance,
                worker=worker,
                seat=seat_of(store, slot.id),
                waits=waits_for_person(store, experiment, slot),
                hours=about.middle if about else None,
                pay=pay_of(experiment),
            )
        )
    return found


def pay_of(experiment: Experiment) -> float | None:
    """Return US dollars per hour of people, as the experiment's file says."""
    said = (experiment.settings.get("people") or {}).get("pay")
    return None if said is None else float(said)


def days_of(experiment: Experiment) -> float:
    """Return for how many days a slot is kept for a person who gives no sign of life."""
    return float((experiment.settings.get("people") or {}).get("seat_days", 14))
