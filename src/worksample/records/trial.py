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
    """The outcome of a trial. Every outcome except `done` has a cause."""

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
        """Return whether the trial finishes its slot. The files in the box then count as the agent's work, even if a
        limit was reached.
        """
        return self.cause is None or POLICY[self.cause].graded

    @property
    def retried(self) -> bool:
        """Return whether the platform starts another try of the slot automatically."""
        return self.cause is not None and POLICY[self.cause].retry


class Fed(Frozen):
    """The feedback that an agent received before it attempted the work again."""

    submission: str
    """Id of the earlier submission to which the feedback refers."""
    evaluations: tuple[str, ...] = ()
    """Ids of the evaluations from which the feedback was made."""
    text: Digest | None = None
    """Digest of the blob with the text that was added to the brief. None if the earlier work was submitted again
    unchanged.
    """


@register
class Trial(Record):
    """Work of one agent or person on one instance. The record is written when the trial ends. A slot has at most one
    valid finished trial.
    """

    kind: ClassVar[str] = "trial"

    slot: str
    experiment: str
    agent: str
    instance: str
    work: Digest
    capture: Digest
    try_number: int = Field(ge=1)
    generation: int = omittable(0, ge=0)
    """Number of the slot's lease when this trial took the slot. 0 if no lease was used; the field is then omitted."""
    outcome: TrialOutcome
    started: Moment
    ended: Moment
    working_seconds: float = Field(ge=0)
    """Elapsed time in seconds, without the time spent waiting for rate limits."""
    person_seconds: float | None = omittable(None, ge=0)
    """The part of `working_seconds` in which a person worked, measured by the timer of the assignment. Omitted if no
    person worked.
    """
    steps: int = Field(default=0, ge=0)
    """Number of model calls of the agent (TAC 4.1)."""
    usage: dict[str, Usage] = {}
    """Usage of models by role. The role of the agent is `agent`."""
    limits: Limits = Limits()
    shown: Digest | None = None
    """Digest of exactly what the agent's model received: the first messages and the tools."""
    fed: Fed | None = omittable(None)
    """The feedback that the agent received before this attempt. Omitted for a first attempt."""
    sandbox: str = "bubblewrap"
    log: str = ""
    """Path of Inspect's `.eval` log, relative to `logs/` in the store."""
    phases: dict[str, float] = {}
    """Seconds of the platform's own work, by phase (sandbox, snapshot, probes, rows, ...)."""
