"""An agent's work on an instance."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, model_validator

from worksample.errors import POLICY, Cause

from .agent import Usage
from .base import Frozen, Moment, Record, omittable, register
from .task import Digest, Limits


class Ending(StrEnum):
    DONE = "done"
    LIMIT = "limit"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TrialOutcome(Frozen):
    """How a trial ended; anything but `done` has its cause."""

    ending: Ending
    cause: Cause | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _has_cause(self) -> Self:
        if (self.ending is Ending.DONE) != (self.cause is None):
            raise ValueError("an ending other than done has a cause, and done has none")
        return self

    @property
    def finished(self) -> bool:
        """Whether the slot is served: what was left counts as the agent's work."""
        return self.cause is None or POLICY[self.cause].graded

    @property
    def retried(self) -> bool:
        """Whether a new try is made by itself."""
        return self.cause is not None and POLICY[self.cause].retry


class Fed(Frozen):
    """What an agent was given that works again."""

    submission: str
    """The earlier work."""
    evaluations: tuple[str, ...] = ()
    """What was said of it, as far as it was given on."""
    text: Digest | None = None
    """Digest of the blob with the words that were added to the brief; None where nobody worked."""


@register
class Trial(Record):
    """Written once, when the trial closes. At most one finished trial per slot is live."""

    kind: ClassVar[str] = "trial"

    slot: str
    experiment: str
    agent: str
    instance: str
    work: Digest
    capture: Digest
    try_number: int = Field(ge=1)
    generation: int = omittable(0, ge=0)
    """How often the slot had been leased when this trial took it, less the leases that were given back. 0, and then not
    written: nothing was leased.
    """
    outcome: TrialOutcome
    started: Moment
    ended: Moment
    working_seconds: float = Field(ge=0)
    """Wall-clock seconds less waiting for rate limits."""
    person_seconds: float | None = omittable(None, ge=0)
    """Of them those of a person, by the timer of the place. None, and then not written: no person worked."""
    steps: int = Field(default=0, ge=0)
    """Model calls of the agent (TAC 4.1)."""
    usage: dict[str, Usage] = {}
    """Per role; the agent's own is `agent`."""
    limits: Limits = Limits()
    shown: Digest | None = None
    """Digest of exactly what the agent was shown (its first messages and its tools)."""
    fed: Fed | None = omittable(None)
    """None, and then not written: a first attempt."""
    sandbox: str = "bubblewrap"
    log: str = ""
    """Path of the `.eval` log, relative to the store's `logs/`."""
    phases: dict[str, float] = {}
    """Seconds of the platform's own work, by phase (sandbox, snapshot, probes, rows, ...)."""
