"""What happens at the place of a person who works: evidence, event by event."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from .base import Moment, Record, omittable, register
from .task import Digest


class AssignmentAct(StrEnum):
    """What happened. The timer is what these say, and nothing else: see `worksample.results.assignments.assignment`."""

    TAKEN = "taken"
    """Somebody sat down; the time does not run yet."""
    STARTED = "started"
    WORKED = "worked"
    """A sign of life while the time runs, with what lies in the output by now."""
    PAUSED = "paused"
    ASKED = "asked"
    """Of an assisted one: the agent is to go on, and the person's time does not run."""
    LEFT = "left"
    """The place is free for others; what was made stays, and is this person's alone."""
    HANDED_IN = "handed_in"
    TAKEN_BACK = "taken_back"
    """As `left`, by an admin and not by who sat there."""


@register
class AssignmentEvent(Record):
    """`id` is made of slot and number, so that of two who write the same number one is refused.

    `person` is the id of an Evaluator (a version of a person's profile).
    """

    kind: ClassVar[str] = "seat_event"

    slot: str
    number: int = Field(ge=1)
    """1 for the first of its slot, and so on without a gap."""
    person: str
    act: AssignmentAct
    at: Moment
    until: Moment | None = None
    """Of a lease that this event takes or renews: from then on others may sit down."""
    output: Digest | None = None
    """Manifest of what lay in the output; None: as at the event before."""
    terminal: Digest | None = None
    """Blob with what the terminal showed since the event before, as lines of an asciicast; None: nothing."""
    text: Digest | None = None
    """Blob with what the agent is asked."""
    note: str = ""
    by: str = omittable("")
    """Name of the account that took the place back; not written where nobody did."""

    @staticmethod
    def identify(slot: str, number: int) -> str:
        return f"{slot}.{number}"
