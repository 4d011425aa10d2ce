"""The assignment of a slot to a person, computed from its events: who holds it, and how long that person has worked.

Time runs from `started` to the next event. Between two events at most `GAP` seconds count, so that neither a closed
browser nor a killed server leaves a timer running.
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
class Seat:
    """The assignment of a slot after its events. `number`: that of the last event, 0 before the first."""

    slot: str
    number: int = 0
    person: str = ""
    """Id of the Evaluator who holds the assignment or held it last."""
    held: bool = False
    running: bool = False
    closed: bool = False
    """Whether the work was handed in."""
    seconds: float = 0.0
    """Seconds of work by this person, up to the last event."""
    began: datetime | None = None
    """When this person first started."""
    last: datetime | None = None
    until: datetime | None = None
    """When the lease ends, if somebody holds it; from then on others may take the slot."""
    output: str | None = None
    """Manifest of the person's last saved work; None if nothing was saved."""
    saved: datetime | None = None
    """When that work was saved."""
    asks: tuple[str, ...] = ()
    """Digests of this person's requests to the agent."""
    asked: int = 0
    """How many requests the agent got, from anybody."""
    taken_back: str = ""
    """Why an admin took the assignment back, if nothing happened since."""

    def seconds_at(self, now: datetime) -> float:
        """Return the seconds of work up to `now`."""
        if not self.running or self.last is None:
            return self.seconds
        return self.seconds + min(max(0.0, (now - self.last).total_seconds()), GAP)

    def is_of(self, person: str, now: datetime) -> bool:
        """Return whether this person holds the assignment, under any version of their profile."""
        return self.is_held(now) and account_of(self.person) == account_of(person)

    def is_held(self, now: datetime) -> bool:
        """Return whether somebody holds the assignment and the lease has not run out."""
        return self.held and (self.until is None or now < self.until)


def account_of(person: str) -> str:
    """Return the person's account behind a version of a profile."""
    return person.partition("@")[0]


def seat_after(slot: str, events: Iterable[AssignmentEvent]) -> Seat:
    """Return the assignment of a slot after its events, given in any order."""
    seat = Seat(slot)
    for event in sorted(events, key=lambda e: e.number):
        seat = _after(seat, event)
    return seat


def _after(seat: Seat, event: AssignmentEvent) -> Seat:
    if account_of(event.person) != account_of(seat.person):
        # Another's beginnings are evidence of theirs and no part of this person's work.
        seat = Seat(seat.slot, asked=seat.asked)
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
    """An assignment that another person holds, that was handed in, or that is in the wrong state for the action."""


def events_of(store: Store, slot: str) -> list[AssignmentEvent]:
    """Return a slot's events in their order."""
    return sorted(store.find(AssignmentEvent, slot=slot), key=lambda e: e.number)


def seat_of(store: Store, slot: str) -> Seat:
    """Return the current assignment of a slot.

    If the work was handed in and then struck, the slot is open again and the assignment is free; nothing of it is lost.
    """
    seat = seat_after(slot, events_of(store, slot))
    if seat.closed and not store.find(Trial, slot=slot, live=True):
        return Seat(slot, number=seat.number, asked=seat.asked)
    return seat


def event_after(seat: Seat, person: str, act: AssignmentAct, at: datetime, **rest: Any) -> AssignmentEvent:
    """Build the record of the next event; its number prevents two events at once."""
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
    """Take the assignment, or renew the lease of the person who holds it.

    Raises SeatConflict if another person holds it or the work was handed in.
    """
    seat = seat_of(store, slot.id)
    if seat.closed or slot.not_attemptable:
        raise SeatConflict("this work is handed in" if seat.closed else "nobody can do this here")
    if seat.is_of(person, at):
        return seat
    if seat.is_held(at):
        raise SeatConflict("somebody else has this place", next="take another one")
    return commit(store, event_after(seat, person, AssignmentAct.TAKEN, at, until=at + timedelta(days=days)))


def commit(store: Store, event: AssignmentEvent) -> Seat:
    """Commit an event. Raises RecordConflict if another event came first; equal events count once."""
    store.commit(event)
    return seat_of(store, event.slot)
