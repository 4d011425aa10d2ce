"""The places of an experiment that wait for a person."""

from __future__ import annotations

from dataclasses import dataclass

from worksample.records import Experiment, Instance, Slot, Worker
from worksample.results.assignments.assignment import assignment_of
from worksample.store import Store

from .assignment import SlotAssignment
from .turns import arm_of, waits_for_person


@dataclass(frozen=True, slots=True)
class OpenWork:
    """`waits`: a person can go on now; else it is the agent's turn. `hours`: what the task says that people take."""

    slot: Slot
    instance: Instance
    worker: Worker
    assignment: SlotAssignment
    waits: bool
    hours: float | None
    pay: float | None
    """US dollars per hour where the person's profile names none."""


def has_human_work(experiment: Experiment) -> bool:
    """Whether people work in it."""
    return any(arm.worker is not Worker.AGENT for arm in experiment.arms)


def open_work_of(store: Store, experiment: Experiment) -> list[OpenWork]:
    """The open places, in the order of the plan's slots."""
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
    """US dollars per hour of people, as the experiment was asked for."""
    said = (experiment.settings.get("people") or {}).get("pay")
    return None if said is None else float(said)


def days_of(experiment: Experiment) -> float:
    """Days for which a place is kept for somebody who is not heard of."""
    return float((experiment.settings.get("people") or {}).get("seat_days", 14))
