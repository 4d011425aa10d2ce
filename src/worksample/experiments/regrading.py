"""A new round over stored submissions, and what it changed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import PlanError, UsageError
from worksample.grading import Change, changes, open_round, subjects
from worksample.records import Evaluation, Experiment, Instance, Protocol, Round, Submission
from worksample.runs import write_scores
from worksample.store import Store

from .grade_queue import GradeQueue
from .rounds import current_round
from .run import need_sandbox
from .take import take
from .watch import Silent, Tally, Watch


@dataclass(frozen=True)
class Regrading:
    """What is graded anew, and how."""

    experiment: Experiment | None = None
    """All submissions of its live trials ..."""
    submissions: tuple[str, ...] = ()
    """... or these."""
    packages: tuple[Path, ...] = ()
    """Their tasks' graders as they are now; other tasks keep the graders of the round before."""
    protocol: Protocol = Protocol.PROGRAM
    author: str = ""
    reason: str = ""
    graders: int = 2
    tries: int = 3
    sandbox: str = "bubblewrap"


@dataclass(frozen=True)
class Regraded:
    """The new round, what it was compared with, and the submissions that stand otherwise."""

    round: Round
    before: Round | None
    changes: tuple[Change, ...]
    tally: Tally


def regrade(store: Store, what: Regrading, watch: Watch | None = None) -> Regraded:
    """Open a round over stored submissions, grade them, and compare with the round that counted before.

    From then on this round counts: reports read it, and what trials close later is graded in it. Raises PlanError
    where nothing is left to grade, or where a package's work or capture is no longer what the submissions were made
    for: that is new work, and its grader says nothing about the old.
    """
    need_sandbox(what.sandbox)
    if what.experiment is not None:
        before: Round | None = current_round(store, what.experiment)
        found = subjects(store, before) if before else []
        ids = what.experiment.lock.instances
    elif what.submissions:
        found = [store.get(Submission, id) for id in dict.fromkeys(what.submissions)]
        before = _latest(store, found, what.protocol)
        ids = tuple(dict.fromkeys(s.instance for s in found))
    else:
        raise UsageError("name an experiment or submissions to grade", next="worksample list")
    if not found:
        raise PlanError("there is no submission to grade yet", next="worksample resume")
    listener = watch or Silent()
    round = open_round(
        store,
        experiment=what.experiment.id if what.experiment else None,
        subjects=() if what.experiment else tuple(s.id for s in found),
        protocol=what.protocol,
        author=what.author,
        reason=what.reason,
        gradings=_gradings(store, what, {id: store.get(Instance, id) for id in ids}, before),
    )
    queue = GradeQueue(store, round, listener, tries=what.tries, sandbox=what.sandbox)
    queue.tally.planned = queue.tally.finished = len(found)
    listener.begin(queue.tally)
    try:
        asyncio.run(queue.run(what.graders))
    finally:
        listener.end()
    if what.experiment is not None:
        write_scores(store, what.experiment.id, round.id)
    return Regraded(round, before, tuple(changes(store, before, round)) if before else (), queue.tally)


def _gradings(store: Store, what: Regrading, instances: dict[str, Instance], before: Round | None) -> dict[str, str]:
    """Instance id -> grading digest: the package's where one is given, else that of the round before."""
    now = {i.key: i for folder in what.packages for i in take(store, folder).instances}
    if now and not now.keys() & {i.key for i in instances.values()}:
        raise PlanError(f"no submission here is of {', '.join(sorted(now))}", next="worksample list")
    given = {id: now[i.key] for id, i in instances.items() if i.key in now}
    changed = sorted(
        instances[id].key
        for id, new in given.items()
        if (new.work_digest, new.capture_digest) != (instances[id].work_digest, instances[id].capture_digest)
    )
    if changed:
        raise PlanError(
            f"the brief, inputs, environment or probes changed: {', '.join(changed)}. That is new work, and a grader "
            "for it says nothing about the old submissions",
            next="worksample run --task ... runs the new work; undo these changes to grade the old anew",
        )
    old = before.gradings if before is not None and before.protocol is what.protocol else {}
    lacking = sorted(i.key for i in (instances | given).values() if what.protocol not in i.grading)
    if lacking:
        raise PlanError(f"no grading under protocol {what.protocol}: {', '.join(lacking)}")
    own = {id: i.grading_digest(what.protocol) for id, i in (instances | given).items()}
    return own | {id: digest for id, digest in old.items() if id in own and id not in given}


def _latest(store: Store, found: list[Submission], protocol: Protocol) -> Round | None:
    """The latest round of the protocol that judged the first of these submissions."""
    rounds = {r.id: r for r in store.find(Round, protocol=protocol.value)}
    made = [e.round for e in store.find(Evaluation, subject=found[0].id) if e.round in rounds]
    return max((rounds[id] for id in made), key=lambda r: (r.at, r.id), default=None)
