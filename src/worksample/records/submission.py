"""Submissions: immutable deliverables, with all other evidence that a grader may see."""

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
    """Work of an agent outside the platform, handed in with `worksample submit` (RLI calls such agents integrated
    agents).
    """
    CONTROL = "control"


class CaptureStatus(StrEnum):
    COMPLETE = "complete"
    PARTIAL = "partial"
    """Some files were not captured. `reason` says why, and the notes in the manifest name the files."""
    ABSENT = "absent"


class SubmissionPart(Frozen):
    """A captured folder of a submission, such as `output`, `probes`, `exports` or `trajectory`."""

    manifest: Digest
    status: CaptureStatus = CaptureStatus.COMPLETE
    reason: str = ""
    files: int = 0
    size: int = 0
    """Total size of the captured files in bytes."""


class Reported(Frozen):
    """Cost and time of work outside the platform, as a person reported them. None means unknown, never 0."""

    cost: float | None = Field(default=None, ge=0)
    """Reported cost in US dollars."""
    minutes: float | None = Field(default=None, ge=0)


@register
class Submission(Record):
    """Work that was handed in. Only `id` identifies a submission: two agents may hand in equal files, and the property
    `content` is then equal for both.
    """

    kind: ClassVar[str] = "submission"

    instance: str
    work: Digest
    capture: Digest
    origin: Origin
    entrant: str
    """Id of the agent, or the name of a person or an external agent."""
    at: Moment
    trial: str | None = None
    experiment: str | None = None
    control: str = ""
    """Kind of a control submission: `reference`, `nothing`, `inputs`, `empty`, or the name of a case. Empty for real
    work.
    """
    parts: dict[str, SubmissionPart]
    reported: Reported = Reported()
    author: str = ""
    note: str = ""

    @property
    def content(self) -> str:
        """Return the digest of all captured folders. Submissions with equal content have equal digests."""
        return digest_of({name: part.manifest for name, part in self.parts.items()})
