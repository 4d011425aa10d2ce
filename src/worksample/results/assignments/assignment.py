"""From the events of a place to who has it, and how long that person has worked. A function, without state of its own.

Time runs from `started` to whatever comes next. Who is not heard of is not at work: between two events at most `GAP`
counts, so that neither a browser that was closed nor a server that was killed leaves a timer running.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from worksample.errors import UsageError
from worksample.records import AssignmentAct, AssignmentEvent, Slot, Trial
from worksample.store import Store

GAP = 120.0
"""Seconds that count at most between two signs of life."""


@dataclass(frozen=True, slots=True)
class SlotAssignment:
    """A place after its events. `number`: of the last one, 0 before the first."""

    slot: str
    number: int = 0
    person: str = ""
    """Id of the Evaluator who sits there, or sat there last."""
    held: bool = False
    running: bool = False
    closed: bool = False
    """Handed in."""
    seconds: float = 0.0
    """Of work by this person, up to the last event."""
    began: datetime | None = None
    """When this person first started."""
    last: datetime | None = None
    until: datetime | None = None
    """Where it is held: from then on others may sit down."""
    output: str | None = None
    """Manifest of what this person had made by then; None: nothing."""
    saved: datetime | None = None
    """When that was."""
    asks: tuple[str, ...] = ()
    """Digests of what the agent was asked by this person."""
    asked: int = 0
    """How often the agent was asked, by whomever."""
    taken_back: str = ""
    """Why an admin took the place back, where nothing happened since."""

    def seconds_at(self, now: datetime) -> float:
        """Seconds of work up to `now`."""
        if not self.running or self.last is None:
            return self.seconds
        return self.seconds + min(max(0.0, (now - self.last).total_seconds()), GAP)

    def is_of(self, person: str, now: datetime) -> bool:
        """Whether this person sits there, under whatever version of the profile."""
        return self.is_taken(now) and account_of(self.person) == account_of(person)

    def is_taken(self, now: datetime) -> bool:
        """Whether somebody sits there whose lease has not run out."""
        return self.held and (self.until is None or now < self.until)


def account_of(person: str) -> str:
    """The person behind a version of a profile."""
    return person.partition("@")[0]


def assignment_after(slot: str, events: Iterable[AssignmentEvent]) -> SlotAssignment:
    """The place after its events, in whatever order they come."""
    seat = SlotAssignment(slot)
    for event in sorted(events, key=lambda e: e.number):
        seat = _after(seat, event)
    return seat


def _after(seat: SlotAssignment, event: AssignmentEvent) -> SlotAssignment:
    if account_of(event.person) != account_of(seat.person):
        # Another's beginnings are evidence of theirs and no part of this person's work.
        seat = SlotAssignment(seat.slot, asked=seat.asked)
    going_on = event.act in (AssignmentAct.STARTED, AssignmentAct.WORKED)
    seat = replace(
        seat,
        number=event.number,
        person=event.person,
        seconds=seat.seconds_at(event.at),
        held=event.act not in (AssignmentAct.LEFT, AssignmentAct.TAKEN_BACK, AssignmentAct.HANDED_IN),
        running=going_on,
        closed=event.act is AssignmentAct.HANDED_IN,
        began=seat.began or (event.at if going_on else None),
        last=event.at,
        until=event.until or seat.until,
        output=event.output or seat.output,
        saved=event.at if event.output else seat.saved,
        taken_back=event.note if event.act is AssignmentAct.TAKEN_BACK else "",
    )
    if event.act is AssignmentAct.ASKED:
        return replace(seat, asked=seat.asked + 1, asks=(*seat.asks, event.text or ""))
    return seat


class SeatConflict(UsageError):
    """The place is another's, was handed in, or is not in a state in which this can be done."""


def assignment_events(store: Store, slot: str) -> list[AssignmentEvent]:
    """In their order."""
    return sorted(store.find(AssignmentEvent, slot=slot), key=lambda e: e.number)


def assignment_of(store: Store, slot: str) -> SlotAssignment:
    """The place of a slot as it is now.

    One whose work was handed in and then struck is free again: nothing of it is lost, and the slot is open.
    """
    seat = assignment_after(slot, assignment_events(store, slot))
    if seat.closed and not store.find(Trial, slot=slot, live=True):
        return SlotAssignment(slot, number=seat.number, asked=seat.asked)
    return seat


def event_after(seat: SlotAssignment, person: str, act: AssignmentAct, at: datetime, **rest: Any) -> AssignmentEvent:
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


def take_slot(store: Store, slot: Slot, person: str, at: datetime, days: float) -> SlotAssignment:
    """Sit down, or sit there already: the lease is renewed. SeatConflict where another sits there or it is done."""
    seat = assignment_of(store, slot.id)
    if seat.closed or slot.not_attemptable:
        raise SeatConflict("this work is handed in" if seat.closed else "nobody can do this here")
    if seat.is_of(person, at):
        return seat
    if seat.is_taken(at):
        raise SeatConflict("somebody else has this place", next="take another one")
    return commit_event(store, event_after(seat, person, AssignmentAct.TAKEN, at, until=at + timedelta(days=days)))


def commit_event(store: Store, event: AssignmentEvent) -> SlotAssignment:
    """Write an event. RecordConflict where another was faster; equal ones are one."""
    store.commit(event)
    return assignment_of(store, event.slot)
