"""Work made elsewhere: taken in, and graded like any other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from worksample.errors import UsageError
from worksample.grading import grade, open_round
from worksample.records import Evaluation, Experiment, Origin, Protocol, Reported, Submission
from worksample.sandboxes import require_kind
from worksample.steady_loop import run_steadily
from worksample.store import Store

from .config import default_author
from .finished_work import WorkOrigin, chosen, known_as, piece_of, take
from .hand_in_submission import hand_in
from .ingesting import ingest_package


@dataclass(frozen=True)
class HandInRequest:
    """What is handed in, by whom, and what is known about it. None is "unknown"."""

    path: Path
    task: Path
    entrant: str
    origin: str
    """`person`, or `agent` for an agent elsewhere (as records say it: `external`)."""
    instance: str | None = None
    at: datetime | None = None
    """When the work was done; without a zone: UTC."""
    minutes: float | None = None
    cost: float | None = None
    """US dollars."""
    author: str | None = None
    experiment: Experiment | None = None
    """Whose rounds judge it, with its agents' work."""
    repeat: int = 1
    """Within an experiment: which of several independent pieces by one entrant on one instance."""


@dataclass(frozen=True)
class HandedIn:
    """The stored submission, and its evaluation where it was graded. `taken`: it was not there before."""

    submission: Submission
    evaluation: Evaluation | None
    taken: bool = True


def hand_in_and_grade(
    store: Store, what: HandInRequest, *, grade_now: bool = True, sandbox: str = "bubblewrap"
) -> HandedIn:
    """Take the work in and grade it in a round of its own, under the first protocol that a program grades.

    With an experiment its rounds judge it instead, once that is resumed, and the same work given again is taken once.
    UsageError where the instance is not named and there are several; CaptureError for an unsound archive.
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
        known = known_as(store, piece.id)
        return HandedIn(known or take(store, piece, author), None, taken=known is None)
    instance = chosen(instances, what.instance)
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
        raise UsageError(f"{word!r} is no origin of handed-in work", where="origin", next="person or agent")
    return known[word]
