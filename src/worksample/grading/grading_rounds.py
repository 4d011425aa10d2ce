"""Opening of rounds, either with the current gradings of the instances or as regrades."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample import __version__
from worksample.errors import PlanError, UsageError
from worksample.records import (
    EvaluatorKind,
    Experiment,
    Grading,
    Instance,
    Json,
    Protocol,
    Purpose,
    ResolutionRule,
    Round,
    Submission,
    now,
)
from worksample.results.pair_sampling import PAIRS
from worksample.store import put_canonical

from .evaluator_kinds import default_evaluator

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class EvaluatorPanel:
    """The evaluators of a round: their kind, the number of evaluations for each subject, and the rule that combines the
    answers.
    """

    by: EvaluatorKind | None = None
    """Kind of evaluator. None for the default of the protocol: programs for the protocols of programs, people for the
    others.
    """
    overlap: int = 1
    """Number of evaluations that each subject needs."""
    rule: ResolutionRule = ResolutionRule.LATEST


def open_round(
    store: Store, *, experiment: str | None = None, subjects: Sequence[str] = (),
    protocol: Protocol = Protocol.PROGRAM, author: str, reason: str = "", gradings: Mapping[str, str] | None = None,
    over: str | None = None, asks: EvaluatorPanel | None = None, pairs: Sequence[tuple[str, str]] = (),
) -> Round:  # fmt: skip
    """Commit a round over all submissions of an experiment, or over `subjects` (submission ids).

    gradings: the digest of the grading to use, by instance id; by default each instance's own grading under `protocol`.
    pairs: the submissions to compare, for the protocol `pairwise`. over: id of the round that is regraded. A regrade
    decides no verdicts until it is adopted.

    Raises UsageError if not exactly one of `experiment` and `subjects` is given, or if an instance has no grading under
    the protocol; RecordMissing if a record is not in the store.
    """
    if (experiment is None) == (not subjects):
        raise UsageError("a round needs either an experiment or subjects", next="worksample grade EXPERIMENT")
    found = instances_of(store, experiment, subjects)
    if gradings is None:
        gradings = {i.id: _grading(i, protocol).digest for i in found if experiment is None or protocol in i.grading}
    if not gradings:
        raise UsageError(
            f"none of the selected instances is graded under {protocol}", where=experiment or "round",
            next="worksample grade --protocol with another protocol",
        )  # fmt: skip
    asked = asks or EvaluatorPanel()
    round = Round(
        id=uuid.uuid4().hex,
        protocol=protocol,
        by=asked.by or default_evaluator(protocol),
        overlap=asked.overlap,
        rule=asked.rule,
        purpose=Purpose.GRADING if over is None else Purpose.REGRADE,
        over=over,
        experiment=experiment,
        subjects=tuple(dict.fromkeys(subjects)),
        gradings=dict(gradings),
        versions={
            "worksample": __version__,
            **({PAIRS: put_canonical(store.blobs, _pairs_as_json(pairs))} if pairs else {}),
        },
        reason=reason,
        author=author,
        at=now(),
    )
    store.commit(round)
    return round


def _pairs_as_json(pairs: Sequence[tuple[str, str]]) -> list[Json]:
    return [[one, two] for one, two in pairs]


def instances_of(store: Store, experiment: str | None, subjects: Iterable[str]) -> list[Instance]:
    """Return the instances of an experiment or of submissions, each only once. Raises RecordMissing if a record is not
    in the store.
    """
    if experiment is not None:
        ids = list(store.get(Experiment, experiment).lock.instances)
    else:
        ids = [store.get(Submission, subject).instance for subject in subjects]
    return [store.get(Instance, id) for id in dict.fromkeys(ids)]


def _grading(instance: Instance, protocol: Protocol) -> Grading:
    found = instance.grading.get(protocol)
    if found is None:
        have = ", ".join(sorted(instance.grading))
        raise UsageError(
            f"the instance is not graded under {protocol}",
            where=instance.key,
            next=f"one of {have}" if have else f"write [grading.{protocol}] in task.toml",
        )
    return found


def regrade(
    store: Store, instances: Sequence[Instance], *, author: str, reason: str, experiment: str | None = None,
    subjects: Sequence[str] = (), protocol: Protocol = Protocol.PROGRAM, over: str | None = None,
) -> Round:  # fmt: skip
    """Open a round that judges existing submissions by the gradings of newer versions of their instances. `grade_all`
    then makes the evaluations.

    instances: the newer versions, already stored. An instance without a newer version keeps its grading. over: id of
    the round that is regraded. The new round decides verdicts after it is adopted. Raises PlanError if no grading would
    change, or if the versions differ in work or capture: the work must then be done again.
    """
    newer = {i.key: i for i in instances}
    gradings: dict[str, str] = {}
    changed = False
    for old in instances_of(store, experiment, subjects):
        new = newer.get(old.key, old)
        if (new.work_digest, new.capture_digest) != (old.work_digest, old.capture_digest):
            what = (
                "its brief, inputs or environment"
                if new.work_digest != old.work_digest
                else "the list of files to capture"
            )
            raise PlanError(
                f"{what} changed, so the old submissions cannot be graded with the new version",
                where=old.key,
                next="worksample run",
            )
        if protocol in new.grading:
            gradings[old.id] = new.grading_digest(protocol)
            changed |= protocol not in old.grading or gradings[old.id] != old.grading_digest(protocol)
    if not changed:
        raise PlanError(
            "nothing to grade again: graders and references have not changed",
            next="change grade.py or the reference first",
        )
    store.commit(*instances)
    return open_round(
        store, experiment=experiment, subjects=subjects, protocol=protocol, author=author, reason=reason,
        gradings=gradings, over=over,
    )  # fmt: skip
