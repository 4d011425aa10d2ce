"""Regrading: grade stored submissions again in a new round, and compare the new verdicts with the present ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from worksample.errors import PlanError, UsageError
from worksample.grading import Evaluators, GradeChange, open_round, subjects
from worksample.grading.evaluator_kinds import evaluator_kinds
from worksample.grading.grade_changes import find_grade_changes, votes_of_pairs
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
from worksample.results.deciding_rounds import RoundsInForce, alike_rounds
from worksample.results.judged_rounds import RoundReader
from worksample.results.pair_sampling import PAIRS, pairs_of
from worksample.runs import write_scores
from worksample.sandboxes import require_kind
from worksample.stall_tolerant_loop import run_steadily
from worksample.store import Store

from .available_evaluators import evaluators_here
from .exclusive_lease import exclusively
from .experiment_runner import RunOptions
from .grade_queue import GradeQueue
from .package_intake import ingest_package
from .rounds import WHOLE, current_round, judges_of, panel_of, round_in_force
from .run_listener import RunListener, RunTally, SilentListener
from .strike_and_restore import amend


@dataclass(frozen=True)
class Regrading:
    """Request to grade stored submissions again."""

    experiment: Experiment | None = None
    """Experiment to regrade: the submissions of its live trials are graded, unless `submissions` names some."""
    submissions: tuple[str, ...] = ()
    """Ids of the submissions to grade."""
    packages: tuple[Path, ...] = ()
    """Folders of task packages whose present graders are used. All other tasks keep the graders of the earlier
    round.
    """
    protocol: Protocol = Protocol.PROGRAM
    by: EvaluatorKind = EvaluatorKind.PROGRAM
    """Kind of evaluator that grades in the new round: a program or a judge."""
    author: str = ""
    reason: str = ""
    options: RunOptions = field(default_factory=RunOptions)
    """Options of the regrade: the number of parallel graders, the number of tries, and the judges that may be
    called.
    """
    sandbox: str = "bubblewrap"


@dataclass(frozen=True)
class Regraded:
    """Result of a regrade: the new round, the round that decided before, and the changes of verdicts.

    `adopted` is True if the new round decides from now on. If the new round was not adopted, `lost` has the submissions
    that would have lost their verdict.
    """

    round: Round
    before: Round | None
    changes: tuple[GradeChange, ...]
    tally: RunTally
    adopted: bool = True
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class RegradeScope:
    """Scope of a regrade: the submissions, their instances, and the round that decides their verdicts now."""

    submissions: tuple[Submission, ...]
    instances: Mapping[str, Instance]
    before: Round | None


@dataclass(frozen=True)
class RegradeComparison:
    """Comparison of the new round with the present one: changed verdicts, and submissions that would lose their
    verdict.
    """

    changes: tuple[GradeChange, ...] = ()
    lost: tuple[str, ...] = ()


def regrade(store: Store, what: Regrading, watch: RunListener | None = None) -> Regraded:
    """Grade stored submissions again, compare the verdicts with the present ones, and adopt the new round.

    The new round is adopted when every submission that can be graded is graded, and only if no submission loses its
    verdict. If the process is killed, the earlier verdicts stay in force, and the next regrade with the same graders
    continues the round. Raises PlanError if no submission can be graded. Raises PlanError if the work or the capture of
    a given package differs from that of the submissions, because the package's grader cannot judge the old work.
    """
    require_kind(what.sandbox)
    here = evaluators_here(store, what.experiment, what.options, what.sandbox)
    scope = _scope(store, what, here)
    gradings = _new_gradings(scope, what, _current_graders(store, what.packages))
    round = _open(store, what, scope, gradings, here)
    tally = _grade(store, what, round, len(scope.submissions), here, watch or SilentListener())
    compared = _compare(store, scope.before, round)
    adopted = not compared.lost
    if scope.before is not None and adopted:
        _adopt(store, round, what)
    elif scope.before is None and what.experiment is not None and what.by is EvaluatorKind.PROGRAM:
        write_scores(store, what.experiment.id, round.id)
    return Regraded(round, scope.before, compared.changes, tally, adopted, compared.lost)


def _scope(store: Store, what: Regrading, here: Evaluators) -> RegradeScope:
    """Find the submissions to grade, and the round that decides their verdicts now. Raises PlanError if none is
    found.
    """
    found, before, ids = _subjects(store, what, here)
    if not found:
        raise PlanError("there is no submission to grade yet", next="worksample resume")
    return RegradeScope(tuple(found), {id: store.get(Instance, id) for id in ids}, before)


def _current_graders(store: Store, packages: Sequence[Path]) -> dict[str, Instance]:
    """Read the packages in their present state. Return their instances by key (task and instance name)."""
    return {i.key: i for folder in packages for i in ingest_package(store, folder).instances}


def _grade(
    store: Store, what: Regrading, round: Round, submissions: int, here: Evaluators, watch: RunListener
) -> RunTally:  # fmt: skip
    """Make all missing evaluations of the round. Return the counts of the work that was done."""
    queue = GradeQueue(store, [round], watch, tries=what.options.tries, here=here)
    queue.tally.planned = queue.tally.finished = submissions
    watch.begin(queue.tally)
    try:
        run_steadily(queue.run(what.options.graders))
    finally:
        watch.end()
    return queue.tally


def _compare(store: Store, before: Round | None, round: Round) -> RegradeComparison:
    """Compare the verdicts of the new round with those of the round that decides now."""
    if before is None:
        return RegradeComparison()
    mine = {s.id for s in subjects(store, round)}
    changed = tuple(c for c in find_grade_changes(store, before, round) if c.subject in mine)
    return RegradeComparison(changed, _lost_verdicts(store, before, round, mine))


def _subjects(
    store: Store, what: Regrading, here: Evaluators
) -> tuple[list[Submission], Round | None, tuple[str, ...]]:  # fmt: skip
    """Return the submissions to grade, the round that decides their verdicts now, and the ids of their instances."""
    if what.experiment is not None:
        _require_graders([store.get(Instance, id) for id in what.experiment.lock.instances], what, here)
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
    _require_graders([store.get(Instance, s.instance) for s in found], what, here)
    return found, _latest_round(store, found, what), tuple(dict.fromkeys(s.instance for s in found))


def _require_graders(instances: Sequence[Instance], what: Regrading, here: Evaluators) -> None:
    """Check that the requested kind of evaluator grades under the protocol. Raises PlanError if it does not, or if
    judges are requested and none is configured.
    """
    graded = [i.grading[what.protocol] for i in instances if what.protocol in i.grading]
    judged = what.by is EvaluatorKind.JUDGE
    if judged and not judges_of(what.protocol, here):
        raise PlanError(
            f"no judge is configured for rounds of protocol {what.protocol}",
            next="worksample grade --judge judge=MODEL",
        )
    whole = judged and what.protocol in WHOLE
    if graded and not whole and not any(what.by in evaluator_kinds(grading) for grading in graded):
        raise PlanError(
            f"no {what.by} grades protocol {what.protocol}; other evaluators judge it in the experiment's own round",
            next="worksample review, or worksample resume",
        )


def _open(
    store: Store, what: Regrading, scope: RegradeScope, gradings: Mapping[str, str], here: Evaluators
) -> Round:  # fmt: skip
    """Return the unfinished regrade that has the same graders (or judges), if one exists. Otherwise open a new
    round.
    """
    experiment, before = what.experiment.id if what.experiment else None, scope.before
    listed = () if experiment else tuple(s.id for s in scope.submissions)
    with exclusively(store, f"regrade:{experiment or listed[0]}"):
        rounds = RoundsInForce(store.find(Round, experiment=experiment), store.find(Amendment, target="round"))
        for round in reversed(rounds.rounds):
            asked = (round.by, round.protocol, round.subjects, dict(round.gradings))
            same = asked == (what.by, what.protocol, listed, dict(gradings)) and _same_judges(store, round, here)
            begun = round.purpose is Purpose.REGRADE and before is not None and round.over == before.id
            if same and begun and not rounds.is_adopted(round) and not rounds.struck(round):
                return round
        return open_round(
            store, experiment=experiment, subjects=listed, protocol=what.protocol, author=what.author,
            reason=what.reason, gradings=gradings, over=before.id if before else None,
            asks=panel_of(what.protocol, what.by, here),
            pairs=pairs_of(store, before) if before is not None and PAIRS in before.versions else (),
        )  # fmt: skip


def _same_judges(store: Store, round: Round, here: Evaluators) -> bool:
    """Return whether every answer in a judges' round came from a judge that is configured for this run."""
    if round.by is not EvaluatorKind.JUDGE:
        return True
    said = {e.evaluator for e in store.find(Evaluation, round=round.id)}
    return said <= {judge.evaluator.id for judge in judges_of(round.protocol, here)}


def _lost_verdicts(store: Store, before: Round, round: Round, subjects: Set[str]) -> tuple[str, ...]:
    """Return the submissions that would lose their verdict: the rounds in force decide them, and the new round does
    not. For a pair that is no longer decided, return both submissions.
    """
    if round.protocol is Protocol.PAIRWISE:
        gone = votes_of_pairs(store, before).keys() - votes_of_pairs(store, round).keys()
        return tuple(sorted({id for key in gone for id in key.split("\x1f")} & subjects))
    judging = RoundReader(store, store.find(Amendment))
    among = [r for r in judging.found.deciding(before.protocol) if r.experiment == before.experiment]
    old = judging.read_round(before, alike_rounds(before, among) or (before.id,))
    had, has = (
        set(j.verdicts.filter(j.verdicts["standing"] == Standing.DECIDED.value)["subject"].to_list())
        for j in (old, judging.read_round(round, [round.id]))
    )
    return tuple(sorted((had - has) & subjects))


def _adopt(store: Store, round: Round, what: Regrading) -> None:
    reason = what.reason or "graded again: every earlier verdict was confirmed or replaced"
    amend(store, action="adopt", target="round", id=round.id, reason=reason, author=what.author or None)


def _new_gradings(scope: RegradeScope, what: Regrading, now: Mapping[str, Instance]) -> dict[str, str]:
    """Return the grading digest of each instance, by instance id. If a package is given, use its digest; otherwise use
    the digest of the earlier round.

    `now` has the given packages' instances by key.
    """
    instances, before = dict(scope.instances), scope.before
    if now and not now.keys() & {i.key for i in instances.values()}:
        raise PlanError(f"the store has no submission for {', '.join(sorted(now))}", next="worksample list")
    given = {id: now[i.key] for id, i in instances.items() if i.key in now}
    changed = sorted(
        instances[id].key
        for id, new in given.items()
        if (new.work_digest, new.capture_digest) != (instances[id].work_digest, instances[id].capture_digest)
    )
    if changed:
        raise PlanError(
            f"the brief, inputs, environment or probes changed: {', '.join(changed)}. That is new work, so its "
            "grader cannot judge the old submissions",
            next="worksample run --task ... runs the new work; undo these changes to grade the old work again",
        )
    old = before.gradings if before is not None and before.protocol is what.protocol else {}
    lacking = sorted(i.key for i in (instances | given).values() if what.protocol not in i.grading)
    if lacking:
        raise PlanError(
            f"no grading under protocol {what.protocol}: {', '.join(lacking)}",
            next="worksample grade with a --protocol that all have, or with --submission",
        )
    known = instances | given
    asked = {id for id, i in known.items() if what.by in evaluator_kinds(i.grading[what.protocol])} or set(known)
    own = {id: known[id].grading_digest(what.protocol) for id in known if id in asked}
    return own | {id: digest for id, digest in old.items() if id in own and id not in given}


def _latest_round(store: Store, found: Sequence[Submission], what: Regrading) -> Round | None:
    """Return the latest round in force that judged the first of these submissions under the protocol."""
    made = {e.round for e in store.find(Evaluation, subject=found[0].id)}
    rounds = RoundsInForce(store.find(Round, protocol=what.protocol.value), store.find(Amendment, target="round"))
    mine = [r for r in rounds.deciding(what.protocol) if r.id in made and r.by is what.by]
    return mine[-1] if mine else None
