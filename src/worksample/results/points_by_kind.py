"""Points by kind of checkpoint: action, accuracy, collaboration (TAC 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from worksample.records import EvaluatorKind, Protocol
from worksample.records.weighted_criteria import behind_gates, last_implies_all

from .criteria_in_force import criteria_with_kinds
from .deciding_rounds import DecidingRound
from .experiment_verdicts import Judgments, instances_of
from .joined_verdicts import Answers, JoinedVerdict, answers_of
from .judged_rounds import RoundReader

POINTS = {"submission": pl.String(), "kind": pl.String(), "earned": pl.Float64(), "points": pl.Float64()}


def points_by_kind(judgments: Judgments, protocol: Protocol) -> pl.DataFrame:
    """Return a row for each submission with a verdict and each kind of checkpoint: the points `earned`, and the
    `points` that apply.

    Failed gates and a last checkpoint that implies the others are treated in the same way as in the score.
    """
    source, reader, subjects = judgments.sources(protocol), judgments.reader, judgments.subjects
    asked = criteria_with_kinds(reader.store, list(subjects.submissions), protocol, source.gradings)
    rows: list[tuple[str, str, float, float]] = []
    if asked:
        answers = _answers(reader, source.rounds)
        answered = {subject for each in answers.values() for subject in each}
        for subject, instance in sorted(instances_of(reader.store, answered & subjects.all_submissions, asked).items()):
            one = JoinedVerdict(asked[instance], subject, answers, judgments.by.kind, source.default_kind)
            one.open()
            if not one.opened:
                rows += [(subject, *row) for row in _points(one)]
    return pl.DataFrame(rows, schema=POINTS, orient="row")


def _answers(judging: RoundReader, rounds: Mapping[EvaluatorKind, Sequence[DecidingRound]]) -> Answers:
    found = {}
    for kind, each in rounds.items():
        decided = [judging.read_deciding(one, leaves=True) for one in each]
        judged = tuple(j for some, _ in decided for j in some)
        found[kind] = answers_of(judged, tuple(j for _, looks in decided for j in looks), judging.rules)
    return found


def _points(one: JoinedVerdict) -> Iterator[tuple[str, float, float]]:
    nodes, shares = one.asked.nodes, one.shares
    every, gone = last_implies_all(nodes, shares), behind_gates(nodes, shares)
    sums: dict[str, list[float]] = {}
    for leaf in (leaf for node in nodes for leaf in node.leaves):
        share = shares[leaf.id]
        if leaf.kind is None or share is None:
            continue
        got = 1.0 if every else 0.0 if leaf.id in gone else share
        total = sums.setdefault(leaf.kind.value, [0.0, 0.0])
        total[0] += got * leaf.worth
        total[1] += leaf.worth
    yield from ((kind, earned, points) for kind, (earned, points) in sums.items())
