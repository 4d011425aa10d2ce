"""What the evaluations of rounds resolve to, as columns: `records.resolve` and `records.overrule` for millions of rows.

The two say the same, which a test proves on random rounds; the records' own form is the definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from sqlalchemy import Connection, case, select

from worksample.errors import POLICY, Cause
from worksample.metrics.judgments.votes import decide
from worksample.records import Amendment, Evaluation, Given, Grade, Round, Rule, Standing, Target, struck

from . import schema
from .tabulate import Columns, tabulate

_e = schema.evaluations.c
_GIVEN = Given.GIVEN.value
VERDICTS: dict[str, pl.DataType] = {
    "subject": pl.String(),
    "standing": pl.String(),
    "score": pl.Float64(),
    "passed": pl.Boolean(),
    "label": pl.Int64(),
    "partial": pl.Float64(),
    "verdict_cause": pl.String(),
    "reason": pl.String(),
    "evaluation": pl.String(),
    "by": pl.String(),
}
"""`evaluation`: the one whose grade decides; null for votes and means. `by`: votes, audit or adjudication."""


def said_frame(connection: Connection, rounds: Sequence[str], amendments: Iterable[Amendment]) -> pl.DataFrame:
    """Every evaluation of these rounds, struck ones too, by subject, time and id. `undecided`: the names of parts that
    nobody could judge, null where there are none; `reason` only where nothing was given.
    """
    columns: Columns = {"evaluation": _e.id, "reason": case((_e.outcome != _GIVEN, _e.reason))}
    names = ("subject", "second", "instance", "evaluator", "outcome", "cause", "payload", "score", "full", "partial")
    columns |= {name: _e[name] for name in (*names, "completion", "quality", "minutes", "at")}
    mine = _e.round.in_(rounds)
    frame = tabulate(connection, columns, select(_e.id).where(mine), ["subject", "at", "evaluation"])
    # Inside a text the quotes are escaped, so that only a skip itself can match; its bodies alone are read.
    open_ = select(_e.id, _e.body).where(mine, _e.payload == "grade", _e.body.contains('"skip":"cannot_judge"'))
    said = [(id, _undecided(body)) for id, body in connection.execute(open_)]
    named = pl.DataFrame(said, schema={"evaluation": pl.String, "undecided": pl.String}, orient="row")
    frame = frame.join(named, on="evaluation", how="left", maintain_order="left")
    return frame.with_columns(struck=_gone(amendments))


def _undecided(body: str) -> str | None:
    payload = Evaluation.model_validate_json(body).payload
    return ", ".join(payload.undecided) or None if isinstance(payload, Grade) else None


def _gone(amendments: Iterable[Amendment]) -> pl.Expr:
    out: dict[Target, list[str]] = {target: [] for target in Target}
    for target, id in sorted(struck(amendments)):
        out[target].append(id)
    keys = ((Target.EVALUATION, "evaluation"), (Target.EVALUATOR, "evaluator"), (Target.INSTANCE, "instance"),
            (Target.SUBMISSION, "subject"), (Target.SUBMISSION, "second"))  # fmt: skip
    gone = pl.lit(False)
    for target, column in keys:
        gone |= pl.col(column).is_in(out[target]).fill_null(False)
    return gone


def verdict_frame(round: Round, said: pl.DataFrame) -> pl.DataFrame:
    """A row per subject that has an evaluation in `said` (see `said_frame`), by the round's rule; pairs have none."""
    single = said.filter(pl.col("second").is_null())
    rows = single.filter(~pl.col("struck"))
    given = rows.filter(pl.col("outcome") == _GIVEN)
    votes = given.filter(pl.col("payload") == "holistic")
    voted = (pl.col("payload") == "holistic").any().over("subject")
    grades = given.filter(~voted & (pl.col("payload") == "grade"))
    parts = [_voted(round, votes), _meant(round, grades) if round.rule is Rule.MEAN else _latest(grades)]
    parts.append(_rest(given, parts, "no payload that decides", Standing.UNDECIDED))
    parts.append(_silent(rows.filter(~(pl.col("outcome") == _GIVEN).any().over("subject"))))
    parts.append(_rest(single, parts, "every evaluation of it was struck", Standing.UNGRADED))
    whole = pl.concat([_shaped(p) for p in parts])
    return whole.with_columns(by=pl.lit("votes")).sort("subject")


def _shaped(part: pl.DataFrame) -> pl.DataFrame:
    return part.select(
        (pl.col(n) if n in part.columns else pl.lit(None)).cast(kind).alias(n) for n, kind in VERDICTS.items()
    )


def _rest(rows: pl.DataFrame, parts: Sequence[pl.DataFrame], reason: str, standing: Standing) -> pl.DataFrame:
    """The subjects of `rows` that none of `parts` has."""
    left = rows.select("subject").unique()
    for part in parts:
        left = left.join(part, on="subject", how="anti")
    return left.with_columns(standing=pl.lit(standing.value), reason=pl.lit(reason))


def _silent(rows: pl.DataFrame) -> pl.DataFrame:
    """Subjects of which nobody said anything: the last one's reason."""
    last = rows.unique("subject", keep="last", maintain_order=True)
    causes = {cause.value: POLICY[cause].says for cause in Cause}
    why = pl.col("cause").replace_strict(causes, default=None, return_dtype=pl.String)
    said = pl.when(pl.col("reason").fill_null("") != "").then("reason").otherwise(why).fill_null("declined")
    return last.select(
        "subject", standing=pl.lit(Standing.UNGRADED.value), verdict_cause="cause", reason=said
    )  # fmt: skip


def _voted(round: Round, votes: pl.DataFrame) -> pl.DataFrame:
    """Holistic votes (RLI 3.4, B.2)."""
    place = pl.int_range(pl.len()).over("subject")
    if round.rule is Rule.LATEST:
        votes = votes.unique("subject", keep="last", maintain_order=True)
    elif round.rule is Rule.TIE_BREAK:
        votes = votes.filter(place < 3)
    yes = pl.col("score") >= 2
    counted = votes.group_by("subject", maintain_order=True).agg(
        *((pl.col("score") == v).sum().cast(pl.Int64).alias(str(v)) for v in (1, 2, 3)),
        split=yes.head(2).n_unique() == 2,
        total=pl.len().cast(pl.Int64),
    )
    if round.rule is Rule.LATEST:
        wanted = np.ones(counted.height, dtype=np.int64)
    elif round.rule is Rule.TIE_BREAK:
        # Two votes that agree on passing settle it; else the third breaks the tie.
        wanted = np.where(counted["split"].to_numpy(), 3, 2)
    else:
        wanted = np.maximum(counted["total"].to_numpy(), round.overlap)
    passed, known, label = decide(counted.select("1", "2", "3").to_numpy().T.astype(np.int64), wanted)
    few = pl.col("total") < pl.Series(wanted)
    why = pl.when(few).then(pl.lit("too few votes")).otherwise(pl.lit("the votes are split"))
    settled = pl.Series(known)
    return counted.select(
        "subject",
        standing=pl.when(settled).then(pl.lit(Standing.DECIDED.value)).otherwise(pl.lit(Standing.UNDECIDED.value)),
        score=pl.when(settled).then(pl.Series(passed).cast(pl.Float64)),
        passed=pl.when(settled).then(pl.Series(passed)),
        label=pl.when(pl.Series(label) > 0).then(pl.Series(label)),
        reason=pl.when(settled).then(pl.lit("")).otherwise(why),
    )


def _latest(grades: pl.DataFrame) -> pl.DataFrame:
    last = grades.unique("subject", keep="last", maintain_order=True)
    sure = pl.col("undecided").is_null()
    return last.select(
        "subject",
        standing=pl.when(sure).then(pl.lit(Standing.DECIDED.value)).otherwise(pl.lit(Standing.UNGRADED.value)),
        score=pl.when(sure).then("score"),
        passed=pl.when(sure).then("full"),
        partial=pl.when(sure).then("partial"),
        reason=pl.when(sure).then(pl.lit("")).otherwise("could not be judged: " + pl.col("undecided")),
        evaluation="evaluation",
    )


def _meant(round: Round, grades: pl.DataFrame) -> pl.DataFrame:
    many = grades.group_by("subject", maintain_order=True).agg(
        total=pl.len().cast(pl.Int64),
        open=pl.col("undecided").is_not_null().any(),
        score=pl.col("score").mean(),
        passed=pl.col("full").cast(pl.Int64).sum() * 2 > pl.len(),
    )
    few = pl.col("total") < round.overlap
    standing = (
        pl.when(few)
        .then(pl.lit(Standing.UNDECIDED.value))
        .when("open")
        .then(pl.lit(Standing.UNGRADED.value))
        .otherwise(pl.lit(Standing.DECIDED.value))
    )
    reason = (
        pl.when(few)
        .then(pl.lit("too few grades"))
        .when("open")
        .then(pl.lit("a part could not be judged"))
        .otherwise(pl.lit(""))
    )
    sure = ~few & ~pl.col("open")
    return many.select(
        "subject",
        standing=standing,
        score=pl.when(sure).then("score"),
        passed=pl.when(sure).then("passed"),
        reason=reason,
    )


def overrule_frame(
    votes: pl.DataFrame, audits: Sequence[pl.DataFrame], adjudications: Sequence[pl.DataFrame]
) -> pl.DataFrame:
    """What stands after people looked again, as `records.overrule` says; of several looks of a kind, in the order of
    time, the latest that decided a subject counts.
    """
    judged = _looks(adjudications, "adjudication").join(votes, on="subject", how="semi")
    doubted = votes.filter(pl.col("passed")).join(judged, on="subject", how="anti")
    failed = _looks(audits, "audit").filter(~pl.col("passed")).join(doubted, on="subject", how="semi")
    changed = pl.concat([judged, failed])
    if not changed.height:
        return votes
    return pl.concat([votes.join(changed, on="subject", how="anti"), changed]).sort("subject")


def _looks(rounds: Sequence[pl.DataFrame], by: str) -> pl.DataFrame:
    if not rounds:
        return pl.DataFrame(schema=VERDICTS)
    whole = pl.concat(rounds).filter(pl.col("standing") == Standing.DECIDED.value)
    return whole.unique("subject", keep="last", maintain_order=True).with_columns(by=pl.lit(by))
