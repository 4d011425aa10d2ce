"""A new round over stored submissions, and what it changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import PlanError, UsageError
from worksample.grading import Asks, Change, Evaluators, changes, open_round, subjects
from worksample.grading.asked_kinds import kinds_of
from worksample.records import (
    Amendment,
    Evaluation,
    EvaluatorKind,
    Experiment,
    Instance,
    Protocol,
    Purpose,
    Round,
    Standing,
    Submission,
)
from worksample.runs import write_scores
from worksample.store import Store
from worksample.verdicts.judging import Judging
from worksample.verdicts.rounds import InForce, alike

from .amend import amend
from .claim import alone
from .grade_queue import GradeQueue
from .ingesting import ingest_package
from .rounds import current_round, round_in_force
from .run import need_sandbox
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
    """The new round, the one that decided before, and the submissions that stand otherwise.

    `adopted`: the new round decides from now on. Else the old one does: the submissions `lost` would have no verdict.
    """

    round: Round
    before: Round | None
    changes: tuple[Change, ...]
    tally: Tally
    adopted: bool = True
    lost: tuple[str, ...] = ()


def regrade(store: Store, what: Regrading, watch: Watch | None = None) -> Regraded:
    """Grade stored submissions anew, compare with the round that decides, and adopt the new round in its place.

    It is adopted once every submission is graded that can be, and only where it hides nothing: no submission that was
    decided is left without a verdict. Killed at any step the earlier verdicts stand, and the next regrade by the same
    graders goes on with the round. Raises PlanError where nothing is left to grade, or where a package's work or
    capture is no longer what the submissions were made for: that is new work, and its grader says nothing about the
    old.
    """
    need_sandbox(what.sandbox)
    if what.experiment is not None:
        _need_program((store.get(Instance, id) for id in what.experiment.lock.instances), what.protocol)
    found, before, ids = _subjects(store, what)
    if not found:
        raise PlanError("there is no submission to grade yet", next="worksample resume")
    gradings = _gradings(store, what, {id: store.get(Instance, id) for id in ids}, before)
    listener = watch or Silent()
    round = _open(store, what, found, before, gradings)
    queue = GradeQueue(store, [round], listener, tries=what.tries, here=Evaluators(what.sandbox))
    queue.tally.planned = queue.tally.finished = len(found)
    listener.begin(queue.tally)
    try:
        asyncio.run(queue.run(what.graders))
    finally:
        listener.end()
    mine = {s.id for s in subjects(store, round)}
    changed = tuple(c for c in changes(store, before, round) if c.subject in mine) if before else ()
    lost = _lost(store, before, round, mine) if before else ()
    if before is not None and not lost:
        _adopt(store, round, what)
    elif before is None and what.experiment is not None:
        write_scores(store, what.experiment.id, round.id)
    return Regraded(round, before, changed, queue.tally, not lost, lost)


def _subjects(store: Store, what: Regrading) -> tuple[list[Submission], Round | None, tuple[str, ...]]:
    """What is graded anew, the round that decides on it now, and the instances."""
    if what.experiment is not None:
        now_ = _in_force(store, what.experiment, what.protocol)
        return subjects(store, now_ or current_round(store, what.experiment)), now_, what.experiment.lock.instances
    if not what.submissions:
        raise UsageError("name an experiment or submissions to grade", next="worksample list")
    found = [store.get(Submission, id) for id in dict.fromkeys(what.submissions)]
    return found, _latest(store, found, what.protocol), tuple(dict.fromkeys(s.instance for s in found))


def _in_force(store: Store, experiment: Experiment, protocol: Protocol) -> Round | None:
    if protocol is experiment.lock.protocol:
        return current_round(store, experiment, protocol, EvaluatorKind.PROGRAM)
    return round_in_force(store, experiment, protocol, EvaluatorKind.PROGRAM)


def _need_program(instances: Iterable[Instance], protocol: Protocol) -> None:
    """PlanError where people or judges answer everything under the protocol."""
    graded = [i.grading[protocol] for i in instances if protocol in i.grading]
    if graded and not any(EvaluatorKind.PROGRAM in kinds_of(grading) for grading in graded):
        raise PlanError(
            f"no program grades protocol {protocol}; who judges it is asked by its round",
            next="worksample review, or worksample resume",
        )


def _open(
    store: Store, what: Regrading, found: Sequence[Submission], before: Round | None, gradings: Mapping[str, str]
) -> Round:
    """The regrade that was begun with these graders and not adopted; else a new one."""
    experiment = what.experiment.id if what.experiment else None
    listed = () if experiment else tuple(s.id for s in found)
    with alone(store, f"regrade:{experiment or listed[0]}"):
        rounds = InForce(store.find(Round, experiment=experiment), store.find(Amendment, target="round"))
        for round in reversed(rounds.rounds):
            same = (round.protocol, round.subjects, dict(round.gradings)) == (what.protocol, listed, dict(gradings))
            begun = round.purpose is Purpose.REGRADE and before is not None and round.over == before.id
            if same and begun and not rounds.adopted(round) and not rounds.struck(round):
                return round
        return open_round(
            store, experiment=experiment, subjects=listed, protocol=what.protocol, author=what.author,
            reason=what.reason, gradings=gradings, over=before.id if before else None,
            asks=Asks(EvaluatorKind.PROGRAM),
        )  # fmt: skip


def _lost(store: Store, before: Round, round: Round, subjects: Set[str]) -> tuple[str, ...]:
    """The subjects that the rounds in force decided and the new one does not."""
    judging = Judging(store, store.find(Amendment))
    among = [r for r in judging.found.deciding(before.protocol) if r.experiment == before.experiment]
    old = judging.read(before, alike(before, among) or (before.id,))
    had, has = (
        set(j.verdicts.filter(j.verdicts["standing"] == Standing.DECIDED.value)["subject"].to_list())
        for j in (old, judging.read(round, [round.id]))
    )
    return tuple(sorted((had - has) & subjects))


def _adopt(store: Store, round: Round, what: Regrading) -> None:
    reason = what.reason or "graded anew: every verdict of before stands or was given anew"
    amend(store, action="adopt", target="round", id=round.id, reason=reason, author=what.author or None)


def _gradings(store: Store, what: Regrading, instances: dict[str, Instance], before: Round | None) -> dict[str, str]:
    """Instance id -> grading digest: the package's where one is given, else that of the round before."""
    now = {i.key: i for folder in what.packages for i in ingest_package(store, folder).instances}
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


def _latest(store: Store, found: Sequence[Submission], protocol: Protocol) -> Round | None:
    """The latest round in force under the protocol that judged the first of these submissions."""
    made = {e.round for e in store.find(Evaluation, subject=found[0].id)}
    rounds = InForce(store.find(Round, protocol=protocol.value), store.find(Amendment, target="round"))
    mine = [r for r in rounds.deciding(protocol) if r.id in made and r.by is EvaluatorKind.PROGRAM]
    return mine[-1] if mine else None
