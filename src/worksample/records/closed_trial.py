"""Builders of the records that are written when work ends: the trial and its submission."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .experiment import Slot
from .submission import Origin, Submission, SubmissionPart
from .task import Instance
from .trial import Trial, TrialOutcome


def trial_id(slot: str, try_number: int) -> str:
    """Return a new, random id for one try of a slot."""
    return f"{slot}.{try_number}.{secrets.token_hex(4)}"


def trial_record(slot: Slot, work: Instance | Submission, id: str, outcome: TrialOutcome, **fields: Any) -> Trial:
    """Build the trial of a slot. `work` is the instance, or an earlier submission for this instance that is submitted
    again.
    """
    return Trial(
        id=id, slot=slot.id, experiment=slot.experiment, agent=slot.agent, outcome=outcome, **_pins(work), **fields
    )


def submission_of(trial: Trial, parts: Mapping[str, SubmissionPart], at: datetime, author: str = "") -> Submission:
    """Build the submission of a trial. The submission gets the id of the trial."""
    fields = {"trial": trial.id, "experiment": trial.experiment, "author": author}
    return submission_record(trial, trial.id, Origin.TRIAL, trial.agent, parts, at, **fields)


def submission_record(
    work: Instance | Trial,
    id: str,
    origin: Origin,
    entrant: str,
    parts: Mapping[str, SubmissionPart],
    at: datetime,
    **fields: Any,
) -> Submission:
    """Build a submission. `work` is the instance, or the trial that produced the submission."""
    return Submission(id=id, origin=origin, entrant=entrant, parts=dict(parts), at=at, **_pins(work), **fields)


def _pins(work: Instance | Trial | Submission) -> dict[str, Any]:
    """Return the fields that trials and submissions share: the instance's id, and the digests of its work and
    capture.
    """
    if isinstance(work, Instance):
        return {"instance": work.id, "work": work.work_digest, "capture": work.capture_digest}
    return {"instance": work.instance, "work": work.work, "capture": work.capture}
