"""Work made elsewhere: taken in, and graded like any other."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from worksample.errors import UsageError
from worksample.grading import grade, open_round
from worksample.records import Evaluation, Instance, Origin, Protocol, Reported, Submission
from worksample.sandboxes import need_box
from worksample.store import Store
from worksample.submissions import hand_in

from .config import default_author
from .ingesting import ingest_package


@dataclass(frozen=True)
class HandIn:
    """What is handed in, by whom, and what is known about it. None is "unknown"."""

    path: Path
    task: Path
    entrant: str
    origin: str
    instance: str | None = None
    at: datetime | None = None
    """When the work was done; without a zone: UTC."""
    minutes: float | None = None
    cost: float | None = None
    """US dollars."""
    author: str | None = None


@dataclass(frozen=True)
class HandedIn:
    """The stored submission, and its evaluation where it was graded."""

    submission: Submission
    evaluation: Evaluation | None


def hand_in_and_grade(store: Store, what: HandIn, *, grade_now: bool = True, sandbox: str = "bubblewrap") -> HandedIn:
    """Take the work in and grade it in a round of its own, under the first protocol that a program grades.

    UsageError where the instance is not named and there are several; CaptureError for an unsound archive.
    """
    if grade_now:
        need_box(sandbox)
    instance = chosen(ingest_package(store, what.task).instances, what.instance)
    author = what.author or default_author()
    at = what.at if what.at is None or what.at.tzinfo else what.at.replace(tzinfo=UTC)
    submission = hand_in(
        store,
        instance,
        what.path,
        entrant=what.entrant,
        origin=Origin(what.origin),
        at=at,
        reported=Reported(cost=what.cost, minutes=what.minutes),
        author=author,
    )
    protocol = next((p for p in (Protocol.PROGRAM, Protocol.CHECKPOINTS) if p in instance.grading), None)
    if not grade_now or protocol is None:
        return HandedIn(submission, None)
    round = open_round(
        store, subjects=(submission.id,), protocol=protocol, author=author, reason="graded as it was handed in"
    )
    return HandedIn(submission, asyncio.run(grade(store, round, submission, instance, sandbox=sandbox)))


def chosen(instances: tuple[Instance, ...], name: str | None) -> Instance:
    """The instance of that name, or the only one. UsageError."""
    names = ", ".join(i.name for i in instances)
    if name is None:
        if len(instances) == 1:
            return instances[0]
        raise UsageError(f"the task has several instances: {names}", next="--instance NAME")
    for instance in instances:
        if instance.name == name:
            return instance
    raise UsageError(f"the task has no instance {name!r}; it has: {names}", next="--instance NAME")
