"""The assignment of a slot: the person who has the slot, and how long this person has worked. Both are computed from
the slot's events alone.

Working time runs from the event `started` to the next event. Between two events, at most `GAP` seconds are counted. A
closed browser or a stopped server therefore adds little time.
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
"""Maximum number of seconds that are counted between two events."""


@dataclass(frozen=True, slots=True)
class SlotAssignment:
    """The state of a slot after its events. `number` is the number of the last event, or 0 if there is no event."""

    slot: str
    number: int = 0
    person: str = ""
    """Id of the `Evaluator` record of the person who has the slot, or had it last."""
    held: bool = False
    running: bool = False
    closed: bool = False
    """True if the work was handed in."""
    seconds: float = 0.0
    """Working time of this person in seconds, up to the last event."""
    began: datetime | None = None
    """Time at which this person first started to work; None if the person has not started."""
    last: datetime | None = None
    until: datetime | None = None
    """Time at which the lease ends; others may then take the slot."""
    output: str | None = None
    """Digest of the manifest of this person's last recorded output. None if no output was recorded."""
    saved: datetime | None = None
    """Time at which the last output was recorded."""
    asks: tuple[str, ...] = ()
    """Digests of the texts of this person's requests to the agent."""
    asked: int = 0
    """Number of requests to the agent on this slot, by all people."""
    taken_back: str = ""
    """An admin's reason for taking the slot back. Empty unless that was the last event."""

    def seconds_at(self, now: datetime) -> float:
        """Return this person's working time in seconds, up to the time `now`."""
        if not self.running or self.last is None:
            return self.seconds
        return self.seconds + min(max(0.0, (now - self.last).total_seconds()), GAP)

    def is_of(self, person: str, now: datetime) -> bool:
        """Return whether this person has the slot at the time `now`. All versions of the person's profile count as one
        person.
        """
        return self.is_taken(now) and account_of(self.person) == account_of(person)

    def is_taken(self, now: datetime) -> bool:
        """Return whether any person has the slot at the time `now`, under a lease that has not ended."""
        return self.held and (self.until is None or now < self.until)


def account_of(person: str) -> str:
    """Return the account name in the id of an `Evaluator` record, without the version of the profile."""
    return person.partition("@")[0]


def assignment_after(slot: str, events: Iterable[AssignmentEvent]) -> SlotAssignment:
    """Compute the state of a slot from its events, which may be in any order."""
    assignment = SlotAssignment(slot)
    for event in sorted(events, key=lambda e: e.number):
        assignment = _after(assignment, event)
    return assignment


def _after(assignment: SlotAssignment, event: AssignmentEvent) -> SlotAssignment:
    if account_of(event.person) != account_of(assignment.person):
        # The start of another person is evidence about that person and not part of this person's work.
        assignment = SlotAssignment(assignment.slot, asked=assignment.asked)
    going_on = event.act in (AssignmentAct.STARTED, AssignmentAct.WORKED)
    assignment = replace(
        assignment,
        number=event.number,
        person=event.person,
        seconds=assignment.seconds_at(event.at),
        held=event.act not in (AssignmentAct.LEFT, AssignmentAct.TAKEN_BACK, AssignmentAct.HANDED_IN),
        running=going_on,
        closed=event.act is AssignmentAct.HANDED_IN,
        began=assignment.began or (event.at if going_on else None),
        last=event.at,
        until=event.until or assignment.until,
        output=event.output or assignment.output,
        saved=event.at if event.output else assignment.saved,
        taken_back=event.note if event.act is AssignmentAct.TAKEN_BACK else "",
    )
    if event.act is AssignmentAct.ASKED:
        return replace(assignment, asked=assignment.asked + 1, asks=(*assignment.asks, event.text or ""))
    return assignment


class AssignmentConflict(UsageError):
    """The slot is assigned to another person, its work was handed in, or its state does not allow the action."""


def assignment_events(store: Store, slot: str) -> list[AssignmentEvent]:
    """Return the events of a slot, ordered by number."""
    return sorted(store.find(AssignmentEvent, slot=slot), key=lambda e: e.number)


def assignment_of(store: Store, slot: str) -> SlotAssignment:
    """Return the current assignment of a slot.

    If the handed-in work was withdrawn (struck), the slot is free again. No record is deleted.
    """
    assignment = assignment_after(slot, assignment_events(store, slot))
    if assignment.closed and not store.find(Trial, slot=slot, live=True):
        return SlotAssignment(slot, number=assignment.number, asked=assignment.asked)
    return assignment


def event_after(
    assignment: SlotAssignment, person: str, act: AssignmentAct, at: datetime, **rest: Any
) -> AssignmentEvent:
    """Build the next event of a slot. Of two concurrent events with the same number, only one can be committed."""
    number = assignment.number + 1
    return AssignmentEvent(
        id=AssignmentEvent.identify(assignment.slot, number),
        slot=assignment.slot,
        number=number,
        person=person,
        act=act,
        at=at,
        **rest,
    )


def take_slot(store: Store, slot: Slot, person: str, at: datetime, days: float) -> SlotAssignment:
    """Assign a slot to a person for `days` days, and return the assignment. If the person has the slot already, nothing
    changes.

    Raises AssignmentConflict if another person has the slot, its work was handed in, or the slot cannot be attempted.
    """
    assignment = assignment_of(store, slot.id)
    if assignment.closed or slot.not_attemptable:
        raise AssignmentConflict("this work was handed in" if assignment.closed else "this slot cannot be attempted")
    if assignment.is_of(person, at):
        return assignment
    if assignment.is_taken(at):
        raise AssignmentConflict("somebody else has this work", next="take other work")
    return commit_event(
        store, event_after(assignment, person, AssignmentAct.TAKEN, at, until=at + timedelta(days=days))
    )


def commit_event(store: Store, event: AssignmentEvent) -> SlotAssignment:
    """Commit an event and return the new assignment of its slot. Committing the same event twice has no further effect.
    Raises RecordConflict if another event with the same number was committed first.
    """
    store.commit(event)
    return assignment_of(store, event.slot)
