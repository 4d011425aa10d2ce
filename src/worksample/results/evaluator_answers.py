"""The answers of all kinds of evaluators about the same work: a row for each answer, from all rounds that judged the
work itself.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from worksample.records import EvaluatorKind, Protocol, Purpose, Round

from .criteria_in_force import BY_CRITERIA
from .grading_in_force import asks_the_same
from .judged_rounds import RoundReader
from .result_set import ResultSet

WHOLE = "(the whole)"
"""Value in the column `item` for a verdict on a whole submission. Other values are ids of criteria."""
MERITS = frozenset({Purpose.GRADING, Purpose.REGRADE, Purpose.RELIABILITY})
"""Purposes of rounds that select work independently of earlier verdicts. Audits, adjudications and searches for false
negatives select their work by earlier verdicts.
"""
ANSWERS = {
    **dict.fromkeys(("subject", "item", "importance", "kind", "evaluator"), pl.String()),
    "value": pl.Float64(),
    "at": pl.Datetime("us", "UTC"),
}


def rounds_of(work: ResultSet, purposes: Iterable[Purpose]) -> tuple[RoundReader, list[Round]]:
    """Return a reader and the valid rounds that have one of these purposes and judged work of the experiments."""
    judging = RoundReader(work.store, work.amendments, work.rules.rubric)
    inside = {e.id for e in work.experiments}
    mine = {*work.slots["submission"].drop_nulls().to_list(), *(s.id for s in work.handed_in)}
    wanted = frozenset(purposes)
    found = [r for r in judging.found.rounds if r.purpose in wanted and _concerns(r, inside, mine)]
    return judging, [r for r in found if not judging.found.struck(r)]


def _concerns(round: Round, experiments: set[str], subjects: set[str]) -> bool:
    return round.experiment in experiments if round.experiment else not subjects.isdisjoint(round.subjects)


def evaluator_answers(work: ResultSet, protocol: Protocol | None = None) -> pl.DataFrame:
    """Return a row for each answer of an evaluator.

    Columns: `subject`, `item` (a criterion or the whole), `importance`, `kind` (of evaluator), `evaluator`, `value` (0
    or 1). Further columns describe the work: `task`, `key`, `label`, `agent`, `who`, `category`. Only the latest answer
    of an evaluator about an item is included. A skipped criterion is not an answer. protocol: only rounds under this
    protocol; None for all.
    """
    judging, rounds = rounds_of(work, {*MERITS, Purpose.CALIBRATION})
    # A quiz of gold items is a calibration round too; labels of a judge's answers are one over the judge's round. Of
    # several rounds the latest counts.
    latest = {
        (r.experiment, r.protocol): r.id
        for r in rounds
        if r.purpose is Purpose.CALIBRATION and _labels_same_questions(r, judging)
    }
    rounds = [
        r for r in rounds
        if protocol in (None, r.protocol)
        and (r.purpose is not Purpose.CALIBRATION or r.id == latest.get((r.experiment, r.protocol)))
    ]  # fmt: skip
    if all(r.by is EvaluatorKind.PROGRAM for r in rounds):
        # Programs alone have nothing to be compared with, and there may be millions of grades.
        rounds = []
    # If people label the judge's questions, their verdicts on their own criteria are about something else.
    labels = {r.protocol for r in rounds if r.purpose is Purpose.CALIBRATION and r.protocol in BY_CRITERIA}
    parts = [pl.DataFrame(schema=ANSWERS)]
    for round in rounds:
        judged = judging.read_round(round, [round.id], leaves=True)
        kind = pl.lit(judged.round.by.value).alias("kind")
        given = judged.given.select("evaluation", "subject", "evaluator", "at")
        leaves = judged.leaves.filter((pl.col("name") != "") & pl.col("skip").is_null())
        leaves = leaves.select("evaluation", "importance", item="name", value=pl.col("passed").cast(pl.Float64))
        parts.append(given.join(leaves, on="evaluation").with_columns(kind).select(_columns()))
        if round.by is EvaluatorKind.PERSON and round.purpose is not Purpose.CALIBRATION and round.protocol in labels:
            continue
        decided = judged.own.filter(pl.col("passed").is_not_null())
        moments = given.group_by("subject").agg(pl.col("at").max())
        whole = decided.select("subject", value=pl.col("passed").cast(pl.Float64)).join(moments, on="subject")
        nobody = pl.lit(None, dtype=pl.String)
        # A verdict of several people is one answer of the kind, not of one person.
        told = whole.with_columns(kind, item=pl.lit(WHOLE), importance=nobody, evaluator=pl.lit(f"({judged.round.by})"))
        parts.append(told.select(_columns()))
    table = pl.concat(parts).sort("at", maintain_order=True)
    table = table.unique(["subject", "item", "kind", "evaluator"], keep="last", maintain_order=True)
    return table.join(_work(work), on="subject", how="inner", maintain_order="left")


def _labels_same_questions(labels: Round, judging: RoundReader) -> bool:
    """Return whether people label the same questions that the deciding judge was asked. Labels of another rubric are
    not used.
    """
    judged = judging.found.deciding(labels.protocol, EvaluatorKind.JUDGE)
    last = next((r for r in reversed(judged) if r.experiment == labels.experiment), None)
    return labels.over is not None and (last is None or asks_the_same(labels, last))


def _columns() -> list[pl.Expr]:
    return [pl.col(name).cast(dtype) for name, dtype in ANSWERS.items()]


def _work(work: ResultSet) -> pl.DataFrame:
    frame = work.frame(work.primary).drop_nulls("submission").unique("submission", maintain_order=True)
    names = ("task", "key", "label", "agent", "who", "category")
    return frame.select(*names, subject="submission")


def majority_by_kind(table: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each subject and item, with the majority answer of each kind of evaluator in the columns
    `program`, `judge` and `person`. The value is null if there is no answer or a tie.
    """
    keys = ["subject", "item"]
    means = table.group_by(*keys, "kind", maintain_order=True).agg(pl.col("value").mean())
    most = pl.when(pl.col("value") > 0.5).then(1.0).when(pl.col("value") < 0.5).then(0.0)
    wide = table.unique(keys, maintain_order=True).drop("kind", "evaluator", "value", "at")
    for kind in EvaluatorKind:
        own = means.filter(pl.col("kind") == kind.value).select(*keys, most.alias(kind.value))
        wide = wide.join(own, on=keys, how="left", maintain_order="left")
    return wide
