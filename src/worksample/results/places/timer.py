"""From the events of a place to who has it, and how long that person has worked. A function, without state of its own.

Time runs from `started` to whatever comes next. Who is not heard of is not at work: between two events at most `GAP`
counts, so that neither a browser that was closed nor a server that was killed leaves a timer running.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from worksample.records import AssignmentAct, AssignmentEvent

GAP = 120.0
"""Seconds that count at most between two signs of life."""


@dataclass(frozen=True, slots=True)
class Seat:
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
        return self.is_held(now) and account_of(self.person) == account_of(person)

    def is_held(self, now: datetime) -> bool:
        """Whether somebody sits there whose lease has not run out."""
        return self.held and (self.until is None or now < self.until)


def account_of(person: str) -> str:
    """The person behind a version of a profile."""
    return person.partition("@")[0]


def seat_after(slot: str, events: Iterable[AssignmentEvent]) -> Seat:
    """The place after its events, in whatever order they come."""
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
