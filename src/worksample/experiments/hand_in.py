"""Hand-in of finished work that the platform did not run. The work is then graded like the work of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from worksample.errors import UsageError
from worksample.grading import grade, open_round
from worksample.records import Evaluation, Experiment, Origin, Protocol, Reported, Submission
from worksample.sandboxes import require_kind
from worksample.stall_tolerant_loop import run_steadily
from worksample.store import Store

from .config import default_author
from .finished_work import WorkOrigin, choose_instance, commit_piece, find_submission, piece_of
from .package_intake import ingest_package
from .submission_intake import hand_in


@dataclass(frozen=True)
class HandInRequest:
    """Request to hand in finished work: the work, its author, and its known date and cost. None means unknown."""

    path: Path
    task: Path
    entrant: str
    origin: str
    """Kind of author: `person`, or `agent` for an agent that this platform did not run. Records call the latter
    `external`.
    """
    instance: str | None = None
    at: datetime | None = None
    """Time at which the work was done. A time without a time zone is in UTC."""
    minutes: float | None = None
    cost: float | None = None
    """Cost of the work in US dollars."""
    author: str | None = None
    experiment: Experiment | None = None
    """Experiment whose rounds judge the work, together with the work of the experiment's agents."""
    repeat: int = 1
    """Number that distinguishes several submissions of one entrant for one instance of an experiment, from 1."""


@dataclass(frozen=True)
class HandedIn:
    """Stored submission, with its evaluation if the submission was graded. `taken` is True if the submission is new."""

    submission: Submission
    evaluation: Evaluation | None
    taken: bool = True


def hand_in_and_grade(
    store: Store, what: HandInRequest, *, grade_now: bool = True, sandbox: str = "bubblewrap"
) -> HandedIn:
    """Store finished work. If a program can grade the instance, grade the work at once in a round of its own.

    Work for an experiment is judged by the experiment's rounds when the experiment is resumed. Handing in the same work
    for an experiment again stores nothing. Raises UsageError if the task has several instances and the request names
    none. Raises CaptureError if an archive is damaged.
    """
    origin = origin_of(what.origin)
    if grade_now and what.experiment is None:
        require_kind(sandbox)
    instances = ingest_package(store, what.task).instances
    author = what.author or default_author()
    at = what.at if what.at is None or what.at.tzinfo else what.at.replace(tzinfo=UTC)
    reported = Reported(cost=what.cost, minutes=what.minutes)
    if what.experiment is not None:
        made = WorkOrigin(what.entrant, origin, what.repeat, at, reported)
        piece = piece_of(store, instances, what.instance, what.path, made, what.experiment)
        known = find_submission(store, piece.id)
        return HandedIn(known or commit_piece(store, piece, author), None, taken=known is None)
    instance = choose_instance(instances, what.instance)
    submission = hand_in(
        store, instance, what.path, entrant=what.entrant, origin=origin, at=at, reported=reported,
        author=author,
    )  # fmt: skip
    protocol = next((p for p in (Protocol.PROGRAM, Protocol.CHECKPOINTS) if p in instance.grading), None)
    if not grade_now or protocol is None:
        return HandedIn(submission, None)
    round = open_round(
        store, subjects=(submission.id,), protocol=protocol, author=author, reason="graded as it was handed in"
    )
    return HandedIn(submission, run_steadily(grade(store, round, submission, instance, sandbox=sandbox)))


def origin_of(word: str) -> Origin:
    """Return the origin that a word names: `person`, `agent` or `external`. Raises UsageError for another word."""
    known = {"person": Origin.PERSON, "agent": Origin.EXTERNAL, "external": Origin.EXTERNAL}
    if word not in known:
        raise UsageError(f"{word!r} is not an origin of handed-in work", where="origin", next="person or agent")
    return known[word]
