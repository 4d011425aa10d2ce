"""A timeout that a busy machine cannot use up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

BACKSTOP_FACTOR = 20.0
"""The backstop is so many times the timeout, unless it is given."""
SHORTEST_BACKSTOP = 600.0
"""Seconds that a backstop has at least, unless it is given."""


@dataclass(eq=False, slots=True)
class FairTimeout:
    """Ends a command after the seconds that it had: what it waited for a processor, or was held, does not count.

    A program that sleeps or hangs has its time and ends like one that computes (`Completed.timed_out`). One that other
    programs keep from the processors gets more time on the clock, up to `backstop`, whose expiry says nothing of the
    command (`Completed.starved`). On a machine with n processors a command may use n times `seconds` of them.

    One object is for one command, except that a command without `hold` may share it.
    """

    seconds: float
    backstop: float = 0.0
    """Seconds on the clock, without those that the command was held; 0 for the usual."""
    held: bool = field(default=False, init=False)
    _tell: Callable[[bool], None] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.backstop = self.backstop or max(BACKSTOP_FACTOR * self.seconds, SHORTEST_BACKSTOP)

    def hold(self, held: bool) -> None:
        """Stop the command's time, which runs on when this is called with False. The command itself goes on."""
        self.held = held
        if self._tell is not None:
            self._tell(held)

    def bind(self, tell: Callable[[bool], None]) -> None:
        """For a kind of box: `tell` is called whenever the time is held or let go."""
        self._tell = tell
        if self.held:
            tell(True)


Timeout = float | FairTimeout | None
"""Seconds on the clock, or of the command's own; None for the limit of the box."""
