"""The events of places in a store: read, and one more written."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from worksample.errors import UsageError
from worksample.records import AssignmentAct, AssignmentEvent, Slot, Trial
from worksample.store import Store

from .timer import Seat, seat_after


class SeatConflict(UsageError):
    """The place is another's, was handed in, or is not in a state in which this can be done."""


def events_of(store: Store, slot: str) -> list[AssignmentEvent]:
    """In their order."""
    return sorted(store.find(AssignmentEvent, slot=slot), key=lambda e: e.number)


def seat_of(store: Store, slot: str) -> Seat:
    """The place of a slot as it is now.

    One whose work was handed in and then struck is free again: nothing of it is lost, and the slot is open.
    """
    seat = seat_after(slot, events_of(store, slot))
    if seat.closed and not store.find(Trial, slot=slot, live=True):
        return Seat(slot, number=seat.number, asked=seat.asked)
    return seat


def event_after(seat: Seat, person: str, act: AssignmentAct, at: datetime, **rest: Any) -> AssignmentEvent:
    """The record of what happens next; its number keeps two from happening at once."""
    number = seat.number + 1
    return AssignmentEvent(
        id=AssignmentEvent.identify(seat.slot, number),
        slot=seat.slot,
        number=number,
        person=person,
        act=act,
        at=at,
        **rest,
    )


def take(store: Store, slot: Slot, person: str, at: datetime, days: float) -> Seat:
    """Sit down, or sit there already: the lease is renewed. SeatConflict where another sits there or it is done."""
    seat = seat_of(store, slot.id)
    if seat.closed or slot.not_attemptable:
        raise SeatConflict("this work is handed in" if seat.closed else "nobody can do this here")
    if seat.is_of(person, at):
        return seat
    if seat.is_held(at):
        raise SeatConflict("somebody else has this place", next="take another one")
    return commit(store, event_after(seat, person, AssignmentAct.TAKEN, at, until=at + timedelta(days=days)))


def commit(store: Store, event: AssignmentEvent) -> Seat:
    """Write an event. RecordConflict where another was faster; equal ones are one."""
    store.commit(event)
    return seat_of(store, event.slot)
