"""Submissions: immutable deliverables, and everything else about them that a grader may see."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from .base import Frozen, Moment, Record, digest_of, register
from .task import Digest


class Origin(StrEnum):
    TRIAL = "trial"
    PERSON = "person"
    EXTERNAL = "external"
    """Made by an agent outside the platform, and handed in with `worksample submit` (RLI's integrated agents)."""
    CONTROL = "control"


class CaptureStatus(StrEnum):
    COMPLETE = "complete"
    PARTIAL = "partial"
    """Some files were not captured; `reason` and the entries' notes say which and why."""
    ABSENT = "absent"


class SubmissionPart(Frozen):
    """A named folder of a submission: `output`, `probes`, `exports`, `trajectory`."""

    manifest: Digest
    status: CaptureStatus = CaptureStatus.COMPLETE
    reason: str = ""
    files: int = 0
    size: int = 0
    """Size in bytes."""


class Reported(Frozen):
    """A figure that a person reports about work done outside the platform; None means "unknown", never 0."""

    cost: float | None = Field(default=None, ge=0)
    """Cost in US dollars."""
    minutes: float | None = Field(default=None, ge=0)


@register
class Submission(Record):
    """Work that was handed in. `digest` describes the content and is not an identity: two agents may hand in the same
    bytes.
    """

    kind: ClassVar[str] = "submission"

    instance: str
    work: Digest
    capture: Digest
    origin: Origin
    entrant: str
    """Agent id, or the name of a person or an external agent."""
    at: Moment
    trial: str | None = None
    experiment: str | None = None
    control: str = ""
    """What a control submission represents: `reference`, `nothing`, `inputs`, `empty`, or the case's name."""
    parts: dict[str, SubmissionPart]
    reported: Reported = Reported()
    author: str = ""
    note: str = ""

    @property
    def content(self) -> str:
        """Return the digest of the parts' manifests."""
        return digest_of({name: part.manifest for name, part in self.parts.items()})
