"""The evaluations of rounds as tables. They are read from the database index, for millions of rows, or built from
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl
from sqlalchemy import Connection, case, func, select

from worksample.errors import Cause
from worksample.records import (
    Amendment,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Holistic,
    Labels,
    Pairwise,
    struck,
)
from worksample.store import schema
from worksample.store.dataframe_builder import TIME, Columns, tabulate

_e = schema.evaluations.c
_GIVEN = EvaluationOutcome.GIVEN.value
FAULT = "file_at_fault"
"""Key in the `record` of an evaluation. It marks that the evaluator could not inspect the work because the deliverable
itself is broken. Such a vote counts.
"""
NO = "no"
"""The answer to a question about a job that speaks against making it a task."""
_COLUMNS: dict[str, pl.DataType] = {
    "evaluation": pl.String(),
    "round": pl.String(),
    "subject": pl.String(),
    "second": pl.String(),
    "instance": pl.String(),
    "evaluator": pl.String(),
    "draw": pl.Int64(),
    "outcome": pl.String(),
    "cause": pl.String(),
    "reason": pl.String(),
    "payload": pl.String(),
    "score": pl.Float64(),
    "full": pl.Boolean(),
    "completion": pl.String(),
    "quality": pl.String(),
    "minutes": pl.Float64(),
    "at": TIME,
}
_SKIPS = {"evaluation": pl.String(), "undecided": pl.String(), "void": pl.Boolean()}
_DENIED = {"evaluation": pl.String(), "denied": pl.List(pl.String())}
_LEAVES: dict[str, pl.DataType] = {
    "evaluation": pl.String(),
    "name": pl.String(),
    "importance": pl.String(),
    "skip": pl.String(),
    "passed": pl.Boolean(),
    "fraction": pl.Float64(),
    "points": pl.Float64(),
    "gate": pl.Boolean(),
}


@dataclass(frozen=True)
class RoundEvaluations:
    """The evaluations of some rounds, as tables.

    `rows` contains all evaluations except superseded ones, ordered by subject, time and id; the column `struck` marks
    withdrawn ones. `reason` is set only if the evaluation has no payload. `undecided` contains the names of parts that
    nobody could judge, or null. `void` is true if no criterion applies. `denied` lists the questions about a job that
    were answered with no.

    `leaves` has a row for each criterion of a grade; it is empty unless it was requested.
    """

    rows: pl.DataFrame
    leaves: pl.DataFrame

    def among(self, wanted: pl.Expr) -> RoundEvaluations:
        """Return the evaluations whose rows meet the condition `wanted`."""
        rows = self.rows.filter(wanted)
        return RoundEvaluations(rows, self.leaves.join(rows, on="evaluation", how="semi", maintain_order="left"))


def read_evaluations(
    connection: Connection, rounds: Sequence[str], amendments: Iterable[Amendment], *, leaves: bool = False
) -> RoundEvaluations:
    """Read the evaluations of rounds from the database index. leaves: whether to read the criteria of every grade,
    too.
    """
    columns: Columns = {name: _e[name] for name in _COLUMNS if name not in ("evaluation", "reason")}
    columns |= {"evaluation": _e.id, "reason": case((_e.outcome != _GIVEN, _e.reason))}
    mine = _e.round.in_(rounds) & func.coalesce(_e.cause != Cause.SUPERSEDED.value, True)
    frame = tabulate(connection, columns, select(_e.id).where(mine), ["subject", "at", "evaluation"])
    # Inside a text the quotes are escaped, so that only a skip itself can match; without `leaves` those alone are read.
    graded = _e.payload == "grade"
    some = (graded if leaves else graded & _e.body.contains('"skip":"')) | (_e.payload == "labels")
    voted = _e.payload.in_(("holistic", "pairwise"))
    query = select(_e.id, _e.body).where(mine & (some | (voted & _e.body.contains('"inspected":false'))))
    read = (Evaluation.model_validate_json(body) for _, body in connection.execute(query))
    return _whole(frame, read, amendments, leaves=leaves)


def evaluations_of(
    evaluations: Iterable[Evaluation], amendments: Iterable[Amendment], *, leaves: bool = False
) -> RoundEvaluations:
    """Build the tables from evaluation records. leaves: whether to include the criteria of every grade."""
    standing = (e for e in evaluations if e.cause is not Cause.SUPERSEDED)
    rows = sorted(standing, key=lambda e: (e.subject, e.at, e.id))
    frame = pl.DataFrame([_row(e) for e in rows], schema=_COLUMNS, orient="row")
    return _whole(frame, rows, amendments, leaves=leaves)


def _row(e: Evaluation) -> tuple[object, ...]:
    said = e.payload
    grade = said if isinstance(said, GradePayload) else None
    pair = said if isinstance(said, Pairwise) else None
    score = grade.score if grade else float(said.score) if isinstance(said, Holistic) else None
    return (
        e.id, e.round, e.subject, e.second, e.instance, e.evaluator, e.draw, e.outcome.value, e.cause and e.cause.value,
        None if e.outcome is EvaluationOutcome.GIVEN else e.reason, said.type if said is not None else None,
        score, grade.full if grade else None, pair.completion.value if pair else None,
        pair.quality.value if pair else None, e.minutes, e.at,
    )  # fmt: skip


def _whole(
    frame: pl.DataFrame, read: Iterable[Evaluation], amendments: Iterable[Amendment], *, leaves: bool
) -> RoundEvaluations:
    skips: list[tuple[str, str | None, bool]] = []
    denied: list[tuple[str, list[str]]] = []
    parts: list[tuple[object, ...]] = []
    unseen: list[str] = []
    for evaluation in read:
        id, said = evaluation.id, evaluation.payload
        if is_unseen(evaluation):
            unseen.append(id)
        if isinstance(said, Labels):
            denied.append((id, [name for name, answer in said.labels.items() if answer == NO]))
        if not isinstance(said, GradePayload):
            continue
        if said.undecided or said.void:
            skips.append((id, ", ".join(said.undecided) or None, said.void))
        if leaves:
            parts += _leaves(id, said)
    named = pl.DataFrame(skips, schema=_SKIPS, orient="row")
    frame = frame.join(named, on="evaluation", how="left", maintain_order="left")
    against = pl.DataFrame(denied, schema=_DENIED, orient="row")
    frame = frame.join(against, on="evaluation", how="left", maintain_order="left")
    frame = frame.with_columns(void=pl.col("void").fill_null(False), struck=_is_struck(amendments))
    frame = _fail_unseen(frame, unseen)
    order = ["evaluation", *(name for name in frame.columns if name != "evaluation")]
    return RoundEvaluations(frame.select(order), pl.DataFrame(parts, schema=_LEAVES, orient="row"))


def is_unseen(evaluation: Evaluation) -> bool:
    """Return whether the evaluator could not inspect the work although the deliverable itself is not broken."""
    said = evaluation.payload
    denied = isinstance(said, Holistic) and not said.inspected
    return (denied or evaluation.record.get("inspected") is False) and not evaluation.record.get(FAULT)


def _fail_unseen(frame: pl.DataFrame, unseen: Sequence[str]) -> pl.DataFrame:
    """Change evaluations without an inspection of the work to failed ones. They stay evidence, but do not count as
    votes.
    """
    if not unseen:
        return frame
    mine, judge = pl.col("evaluation").is_in(unseen), pl.col("evaluator").str.starts_with("judge.")
    cause = pl.when(judge).then(pl.lit(Cause.JUDGE_UNSHOWN.value)).otherwise(pl.lit(Cause.PERSON_UNSHOWN.value))
    return frame.with_columns(
        outcome=pl.when(mine).then(pl.lit(EvaluationOutcome.FAILED.value)).otherwise("outcome"),
        cause=pl.when(mine).then(cause).otherwise("cause"),
    )


def _leaves(id: str, grade: GradePayload) -> Iterator[tuple[object, ...]]:
    """Yield a row for each criterion of a grade. A grade without parts gives one row with the name ""."""
    seen: dict[str, int] = {}
    for p in grade.leaves:
        seen[p.name] = seen.get(p.name, 0) + 1
        name = p.name if seen[p.name] == 1 else f"{p.name} ({seen[p.name]})"
        importance = p.importance.value if p.importance else None
        yield id, name, importance, p.skip.value if p.skip else None, p.passed, p.fraction, p.points, p.gate
    if not grade.parts:
        yield id, "", None, None, grade.full, grade.score, 1.0, False


def _is_struck(amendments: Iterable[Amendment]) -> pl.Expr:
    out: dict[AmendmentTarget, list[str]] = {target: [] for target in AmendmentTarget}
    for target, id in sorted(struck(amendments)):
        out[target].append(id)
    keys = (
        (AmendmentTarget.EVALUATION, "evaluation"),
        (AmendmentTarget.EVALUATOR, "evaluator"),
        (AmendmentTarget.INSTANCE, "instance"),
        (AmendmentTarget.ROUND, "round"),
        (AmendmentTarget.SUBMISSION, "subject"),
        (AmendmentTarget.SUBMISSION, "second"),
    )
    gone = pl.lit(False)
    for target, column in keys:
        gone |= pl.col(column).is_in(out[target]).fill_null(False)
    return gone


_ITEM = ("subject", "evaluator", "draw")


def count_once(votes: pl.DataFrame) -> pl.DataFrame:
    """Return the votes that count. If an evaluator gave equal votes on a subject, the first counts; if the votes
    contradict each other, none counts.

    An evaluator with contradicting votes counts as absent until all votes but one are withdrawn (struck). The numbered
    repeats of a judge count separately.
    """
    contrary = pl.col("score").n_unique().over(_ITEM) > 1
    return votes.filter(~contrary).unique(_ITEM, keep="first", maintain_order=True)


def keep_latest(grades: pl.DataFrame) -> pl.DataFrame:
    """Return only the last grade of each evaluator on each subject."""
    return grades.unique(_ITEM, keep="last", maintain_order=True)
