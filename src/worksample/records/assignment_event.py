"""Events of a person's assignment to a slot. They are the evidence of who worked when."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from .base import Moment, Record, omittable, register
from .task import Digest


class AssignmentAct(StrEnum):
    """Kind of an event. Working time is computed from events alone: see `worksample.results.assignments.assignment`."""

    TAKEN = "taken"
    """A person took the slot; the timer does not run yet."""
    STARTED = "started"
    WORKED = "worked"
    """A heartbeat while the timer runs, with the current output."""
    PAUSED = "paused"
    ASKED = "asked"
    """In an assisted slot: the person asked the agent to continue; the person's timer stops."""
    LEFT = "left"
    """The person left the slot. Others may take it; the work is kept for this person only."""
    HANDED_IN = "handed_in"
    TAKEN_BACK = "taken_back"
    """An admin ended the assignment; otherwise like `left`."""


@register
class AssignmentEvent(Record):
    """An event of a slot. `id` combines slot and number, so only one of two events with the same number is stored.

    `person` is the id of an Evaluator (a version of a person's profile).
    """

    kind: ClassVar[str] = "seat_event"

    slot: str
    number: int = Field(ge=1)
    """1 for the first event of its slot, without gaps."""
    person: str
    act: AssignmentAct
    at: Moment
    until: Moment | None = None
    """End of the lease that this event starts or renews. After it, others may take the slot."""
    output: Digest | None = None
    """Manifest of the output; None if unchanged since the previous event."""
    terminal: Digest | None = None
    """Blob with the terminal's output since the previous event, as lines of an asciicast; None if there was none."""
    text: Digest | None = None
    """Blob with the request to the agent."""
    note: str = ""
    by: str = omittable("")
    """Account of the admin who took the slot back. Omitted for other events."""

    @staticmethod
    def identify(slot: str, number: int) -> str:
        return f"{slot}.{number}"
