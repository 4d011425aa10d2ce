"""A new round over stored submissions, and what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from worksample.errors import PlanError, UsageError
from worksample.grading import Evaluators, GradeChange, changes, open_round, subjects
from worksample.grading.evaluator_kinds import kinds_of
from worksample.grading.grade_changes import votes_of_pairs
from worksample.grading.grade_round import live_submissions
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
from worksample.results.deciding_rounds import InForce, alike
from worksample.results.judged_rounds import RoundReader
from worksample.results.pair_sampling import PAIRS, pairs_of
from worksample.runs import write_scores
from worksample.sandboxes import require_kind
from worksample.steady_loop import run_steadily
from worksample.store import Store

from .amend import amend
from .claim import alone
from .grade_queue import GradeQueue
from .ingesting import ingest_package
from .judging import evaluators_here
from .rounds import WHOLE, asks_of, current_round, judges_of, round_in_force
from .run import RunOptions
from .watch import RunTally, Silent, Watch


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
    by: EvaluatorKind = EvaluatorKind.PROGRAM
    """Whose round: a program's, or a judge's."""
    author: str = ""
    reason: str = ""
    options: RunOptions = field(default_factory=RunOptions)
    """How many are graded at once, how often each is tried, and the judges that graders and rounds may ask."""
    sandbox: str = "bubblewrap"


@dataclass(frozen=True)
class Regraded:
    """The new round, the one that decided before, and the submissions that stand otherwise.

    `adopted`: the new round decides from now on. Else the old one does: the submissions `lost` would have no verdict.
    """

    round: Round
    before: Round | None
    changes: tuple[GradeChange, ...]
    tally: RunTally
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
    require_kind(what.sandbox)
    here = evaluators_here(store, what.experiment, what.options, what.sandbox)
    found, before, ids = _subjects(store, what, here)
    if not found:
        raise PlanError("there is no submission to grade yet", next="worksample resume")
    gradings = _gradings(store, what, {id: store.get(Instance, id) for id in ids}, before)
    listener = watch or Silent()
    round = _open(store, what, found, before, gradings, here)
    queue = GradeQueue(store, [round], listener, tries=what.options.tries, here=here)
    queue.tally.planned = queue.tally.finished = len(found)
    listener.begin(queue.tally)
    try:
        run_steadily(queue.run(what.options.graders))
    finally:
        listener.end()
    mine = {s.id for s in subjects(store, round)}
    changed = tuple(c for c in changes(store, before, round) if c.subject in mine) if before else ()
    lost = _lost(store, before, round, mine) if before else ()
    if before is not None and not lost:
        _adopt(store, round, what)
    elif before is None and what.experiment is not None and what.by is EvaluatorKind.PROGRAM:
        write_scores(store, what.experiment.id, round.id)
    return Regraded(round, before, changed, queue.tally, not lost, lost)


def _subjects(
    store: Store, what: Regrading, here: Evaluators
) -> tuple[list[Submission], Round | None, tuple[str, ...]]:  # fmt: skip
    """What is graded anew, the round that decides on it now, and the instances."""
    if what.experiment is not None:
        _need_somebody([store.get(Instance, id) for id in what.experiment.lock.instances], what, here)
        own = what.by is EvaluatorKind.PROGRAM and what.protocol is what.experiment.lock.protocol
        find = current_round if own else round_in_force
        now_ = find(store, what.experiment, what.protocol, what.by)
        return live_submissions(store, what.experiment.id), now_, what.experiment.lock.instances
    if not what.submissions:
        raise UsageError("name an experiment or submissions to grade", next="worksample list")
    if what.protocol is Protocol.PAIRWISE:
        raise UsageError(
            "pairs can only be judged again for a whole experiment",
            next="worksample grade EXPERIMENT --protocol pairwise",
        )
    found = [store.get(Submission, id) for id in dict.fromkeys(what.submissions)]
    _need_somebody([store.get(Instance, s.instance) for s in found], what, here)
    return found, _latest(store, found, what), tuple(dict.fromkeys(s.instance for s in found))


def _need_somebody(instances: Sequence[Instance], what: Regrading, here: Evaluators) -> None:
    """PlanError where others answer everything under the protocol, or where no judge is configured to be asked."""
    graded = [i.grading[what.protocol] for i in instances if what.protocol in i.grading]
    judged = what.by is EvaluatorKind.JUDGE
    if judged and not judges_of(what.protocol, here):
        raise PlanError(
            f"no judge is configured for rounds of protocol {what.protocol}",
            next="worksample grade --judge judge=MODEL",
        )
    whole = judged and what.protocol in WHOLE
    if graded and not whole and not any(what.by in kinds_of(grading) for grading in graded):
        raise PlanError(
            f"no {what.by} grades protocol {what.protocol}; its own round asks whoever judges it",
            next="worksample review, or worksample resume",
        )


def _open(
    store: Store, what: Regrading, found: Sequence[Submission], before: Round | None, gradings: Mapping[str, str],
    here: Evaluators,
) -> Round:  # fmt: skip
    """The regrade that was begun with these graders (or judges) and not adopted; else a new one."""
    experiment = what.experiment.id if what.experiment else None
    listed = () if experiment else tuple(s.id for s in found)
    with alone(store, f"regrade:{experiment or listed[0]}"):
        rounds = InForce(store.find(Round, experiment=experiment), store.find(Amendment, target="round"))
        for round in reversed(rounds.rounds):
            asked = (round.by, round.protocol, round.subjects, dict(round.gradings))
            same = asked == (what.by, what.protocol, listed, dict(gradings)) and _same_judges(store, round, here)
            begun = round.purpose is Purpose.REGRADE and before is not None and round.over == before.id
            if same and begun and not rounds.adopted(round) and not rounds.struck(round):
                return round
        return open_round(
            store, experiment=experiment, subjects=listed, protocol=what.protocol, author=what.author,
            reason=what.reason, gradings=gradings, over=before.id if before else None,
            asks=asks_of(what.protocol, what.by, here),
            pairs=pairs_of(store, before) if before is not None and PAIRS in before.versions else (),
        )  # fmt: skip


def _same_judges(store: Store, round: Round, here: Evaluators) -> bool:
    """Whether a judge's round was answered by nobody but those who are asked here: another's answers are another's."""
    if round.by is not EvaluatorKind.JUDGE:
        return True
    said = {e.evaluator for e in store.find(Evaluation, round=round.id)}
    return said <= {judge.evaluator.id for judge in judges_of(round.protocol, here)}


def _lost(store: Store, before: Round, round: Round, subjects: Set[str]) -> tuple[str, ...]:
    """The subjects that the rounds in force decided and the new one does not; of pairs both sides."""
    if round.protocol is Protocol.PAIRWISE:
        gone = votes_of_pairs(store, before).keys() - votes_of_pairs(store, round).keys()
        return tuple(sorted({id for key in gone for id in key.split("\x1f")} & subjects))
    judging = RoundReader(store, store.find(Amendment))
    among = [r for r in judging.found.deciding(before.protocol) if r.experiment == before.experiment]
    old = judging.read(before, alike(before, among) or (before.id,))
    had, has = (
        set(j.verdicts.filter(j.verdicts["standing"] == Standing.DECIDED.value)["subject"].to_list())
        for j in (old, judging.read(round, [round.id]))
    )
    return tuple(sorted((had - has) & subjects))


def _adopt(store: Store, round: Round, what: Regrading) -> None:
    reason = what.reason or "graded again: every earlier verdict was confirmed or replaced"
    amend(store, action="adopt", target="round", id=round.id, reason=reason, author=what.author or None)


def _gradings(store: Store, what: Regrading, instances: dict[str, Instance], before: Round | None) -> dict[str, str]:
    """Instance id -> grading digest: the package's where one is given, else that of the round before."""
    now = {i.key: i for folder in what.packages for i in ingest_package(store, folder).instances}
    if now and not now.keys() & {i.key for i in instances.values()}:
        raise PlanError(f"there is no submission here for {', '.join(sorted(now))}", next="worksample list")
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
            next="worksample run --task ... runs the new work; undo these changes to grade the old work again",
        )
    old = before.gradings if before is not None and before.protocol is what.protocol else {}
    lacking = sorted(i.key for i in (instances | given).values() if what.protocol not in i.grading)
    if lacking:
        raise PlanError(
            f"no grading under protocol {what.protocol}: {', '.join(lacking)}",
            next="worksample grade --protocol with a protocol that all have, or --submission",
        )
    known = instances | given
    asked = {id for id, i in known.items() if what.by in kinds_of(i.grading[what.protocol])} or set(known)
    own = {id: known[id].grading_digest(what.protocol) for id in known if id in asked}
    return own | {id: digest for id, digest in old.items() if id in own and id not in given}


def _latest(store: Store, found: Sequence[Submission], what: Regrading) -> Round | None:
    """The latest round in force under the protocol that judged the first of these submissions."""
    made = {e.round for e in store.find(Evaluation, subject=found[0].id)}
    rounds = InForce(store.find(Round, protocol=what.protocol.value), store.find(Amendment, target="round"))
    mine = [r for r in rounds.deciding(what.protocol) if r.id in made and r.by is what.by]
    return mine[-1] if mine else None
