"""Finished work that is handed in: its instance, its id, and the check of whether the store already has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from worksample.errors import RecordMissing, UsageError
from worksample.files import HashSink
from worksample.records import Experiment, Instance, Origin, Reported, Submission, SubmissionPart, digest_of
from worksample.store import Store

from .submission_intake import hand_in, inspect_work, refuse_future_date

UNKNOWN = Reported()


@dataclass(frozen=True)
class WorkOrigin:
    """Origin of finished work: its author, its repeat number, and its known date and cost. None means unknown."""

    entrant: str
    origin: Origin
    repeat: int = 1
    at: datetime | None = None
    reported: Reported = UNKNOWN


@dataclass(frozen=True)
class WorkPiece:
    """Finished work to hand in. Its `id` is computed from instance, experiment, entrant and repeat, so that a repeated
    command finds the stored submission.
    """

    made: WorkOrigin
    instance: Instance
    path: Path
    part: SubmissionPart
    experiment: Experiment | None
    id: str


def piece_of(
    store: Store,
    instances: Sequence[Instance],
    name: str | None,
    path: Path,
    made: WorkOrigin,
    experiment: Experiment | None,
) -> WorkPiece:
    """Inspect work for the named instance, without storing anything.

    `experiment` is the experiment whose rounds will judge the work; its planned version of the instance is used. Raises
    UsageError if the instance is unknown or has changed since it was planned. Raises UsageError if the store has
    different content under the work's id. Raises CaptureError if an archive is damaged.
    """
    refuse_future_date(made.at)
    instance = _planned_instance(store, choose_instance(instances, name), experiment)
    part, _ = inspect_work(instance, path, HashSink())
    home = experiment.id if experiment else None
    id = digest_of(["handed in", home, instance.id, made.origin.value, made.entrant, made.repeat])[:32]
    known = find_submission(store, id)
    if known is not None and known.parts["output"].manifest != part.manifest:
        raise UsageError(
            f"this repeat was already handed in, with other files (submission {known.id})", where=str(path),
            next=f"the same command with --repeat {made.repeat + 1}",
        )  # fmt: skip
    return WorkPiece(made, instance, path, part, experiment, id)


def choose_instance(instances: Sequence[Instance], name: str | None) -> Instance:
    """Return the instance of that name. Without a name, return the only instance. Raises UsageError if no instance has
    the name, or if the name is missing and the task has several instances.
    """
    names = ", ".join(i.name for i in instances)
    if name is None:
        if len(instances) == 1:
            return instances[0]
        raise UsageError(f"the task has several instances: {names}", next="--instance NAME")
    for instance in instances:
        if instance.name == name:
            return instance
    raise UsageError(f"the task has no instance {name!r}; it has: {names}", next="--instance NAME")


def _planned_instance(store: Store, instance: Instance, experiment: Experiment | None) -> Instance:
    """Return the version of the instance that the experiment planned."""
    if experiment is None:
        return instance
    planned = [store.get(Instance, id) for id in experiment.lock.instances]
    found = next((p for p in planned if p.key == instance.key), None)
    if found is None:
        raise UsageError(
            f"this instance is not part of the experiment {experiment.name}",
            where=instance.key,
            next="leave out --experiment, or name another",
        )
    if (found.work_digest, found.capture_digest) != (instance.work_digest, instance.capture_digest):
        raise UsageError(
            "the instance has another brief, other inputs or other probes than in "
        f"the experiment {experiment.name}", where=instance.key,
            next="give --task the version of the task that was planned",
        )  # fmt: skip
    return found


def find_submission(store: Store, id: str) -> Submission | None:
    """Return the submission that was handed in under this id; None if the store has no submission of this id."""
    try:
        return store.get(Submission, id)
    except RecordMissing:
        return None


def commit_piece(store: Store, piece: WorkPiece, author: str) -> Submission:
    """Commit finished work and return its submission."""
    made = piece.made
    return hand_in(
        store, piece.instance, piece.path, entrant=made.entrant, origin=made.origin, at=made.at,
        reported=made.reported, author=author, id=piece.id,
        experiment=piece.experiment.id if piece.experiment else None,
    )  # fmt: skip
