"""Events of a person's assignment to a slot. They are the evidence of who worked at what time."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from .base import Moment, Record, omittable, register
from .task import Digest


class AssignmentAct(StrEnum):
    """Kind of an event of an assignment. Working time is computed from these events alone (see
    `worksample.results.assignments.assignment`).
    """

    TAKEN = "taken"
    """A person took the slot. The timer does not run yet."""
    STARTED = "started"
    WORKED = "worked"
    """A regular sign of activity while the timer runs. It records the current output."""
    PAUSED = "paused"
    ASKED = "asked"
    """The person asked the agent to continue, which is possible in assisted slots only. The person's timer stops."""
    LEFT = "left"
    """The person gave the slot back. Others may take the slot. Only this person can continue the stored work."""
    HANDED_IN = "handed_in"
    TAKEN_BACK = "taken_back"
    """An admin took the slot back from the person. The effect is otherwise that of `left`."""


@register
class AssignmentEvent(Record):
    """An event of a slot that people work on. `id` combines slot and number, so that only one of two events with the
    same number can be stored.

    `person` is the id of an `Evaluator` record, which holds one version of the person's profile.
    """

    kind: ClassVar[str] = "seat_event"

    slot: str
    number: int = Field(ge=1)
    """Number of the event in its slot: 1 for the first event, then without gaps."""
    person: str
    act: AssignmentAct
    at: Moment
    until: Moment | None = None
    """End of the lease that this event starts or renews. After this time, others may take the slot."""
    output: Digest | None = None
    """Digest of the manifest of the output folder; None if the folder has not changed since the previous event."""
    terminal: Digest | None = None
    """Digest of the blob with the terminal's output since the previous event, as lines of an asciicast. None if the
    terminal printed nothing.
    """
    text: Digest | None = None
    """Digest of the blob with the person's request to the agent; None for other events."""
    note: str = ""
    by: str = omittable("")
    """Account of the admin who took the slot back. Omitted for other events."""

    @staticmethod
    def identify(slot: str, number: int) -> str:
        return f"{slot}.{number}"
