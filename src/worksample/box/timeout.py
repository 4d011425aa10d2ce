"""A timeout that does not count the time that other programs take from a command."""

from __future__ import annotations

from dataclasses import dataclass, field

BACKSTOP_FACTOR = 20.0
"""The default backstop is this many times the timeout."""
SHORTEST_BACKSTOP = 600.0
"""Minimum of the default backstop, in seconds."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class FairTimeout:
    """A limit on the seconds that a command had; time that it waited for a processor or was held does not count.

    A program that sleeps or hangs uses its time and ends like one that computes (`Completed.timed_out`). A program that
    others keep from the processors gets more time on the clock, up to `backstop`; if that expires, it says nothing
    about the command (`Completed.starved`). On a machine with n processors a command may use n times `seconds` of them.

    Use one object for one command; commands that are never held (`Box.hold`) may share one.
    """

    seconds: float
    backstop: float = 0.0
    """Seconds on the clock, without those that the command was held; 0 for the default."""
    held: bool = field(default=False, init=False)
    """Whether the command's time stands still."""

    def __post_init__(self) -> None:
        self.backstop = self.backstop or max(BACKSTOP_FACTOR * self.seconds, SHORTEST_BACKSTOP)


Timeout = float | FairTimeout | None
"""Seconds on the clock, a FairTimeout, or None for the limit of the box."""
