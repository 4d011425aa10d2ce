"""Trials: one agent's or person's work on one instance."""

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
    """How a trial ended. Every outcome except `done` has a cause."""

    ending: Ending
    cause: Cause | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _has_cause(self) -> Self:
        if (self.ending is Ending.DONE) != (self.cause is None):
            raise ValueError("an outcome other than done needs a cause, and done must not have one")
        return self

    @property
    def finished(self) -> bool:
        """Return whether the trial finishes its slot: the files left behind count as the agent's work."""
        return self.cause is None or POLICY[self.cause].graded

    @property
    def retried(self) -> bool:
        """Return whether another try of the slot starts automatically."""
        return self.cause is not None and POLICY[self.cause].retry


class Fed(Frozen):
    """The feedback that an agent received before it re-attempted the work."""

    submission: str
    """Id of the earlier submission."""
    evaluations: tuple[str, ...] = ()
    """Ids of the evaluations whose feedback was passed on."""
    text: Digest | None = None
    """Digest of the blob with the text added to the brief; None if nobody worked."""


@register
class Trial(Record):
    """One trial, written when it closes. At most one finished trial per slot is live."""

    kind: ClassVar[str] = "trial"

    slot: str
    experiment: str
    agent: str
    instance: str
    work: Digest
    capture: Digest
    try_number: int = Field(ge=1)
    generation: int = omittable(0, ge=0)
    """Generation of the slot's lease when this trial took it. 0, and then omitted, if no lease was used."""
    outcome: TrialOutcome
    started: Moment
    ended: Moment
    working_seconds: float = Field(ge=0)
    """Wall-clock seconds without the waits for rate limits."""
    person_seconds: float | None = omittable(None, ge=0)
    """The part of `working_seconds` in which a person worked, by the assignment's timer. Omitted if no person worked.
    """
    steps: int = Field(default=0, ge=0)
    """Model calls of the agent (TAC 4.1)."""
    usage: dict[str, Usage] = {}
    """Usage by role; the agent's role is `agent`."""
    limits: Limits = Limits()
    shown: Digest | None = None
    """Digest of exactly what the agent saw: its first messages and its tools."""
    fed: Fed | None = omittable(None)
    """The feedback before this attempt. Omitted for a first attempt."""
    sandbox: str = "bubblewrap"
    log: str = ""
    """Path of the `.eval` log, relative to the store's `logs/`."""
    phases: dict[str, float] = {}
    """Seconds of the platform's own work, by phase (sandbox, snapshot, probes, rows, ...)."""
