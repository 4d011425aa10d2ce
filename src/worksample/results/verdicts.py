"""What the evaluations of a round come to: a row per subject, by the round's rule. The only place that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from worksample.errors import POLICY, Cause
from worksample.metrics.judgments.votes import decide
from worksample.metrics.scores.rubric import RubricRules
from worksample.records import (
    AWAITED,
    Amendment,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Protocol,
    Purpose,
    ResolutionRule,
    Round,
    Standing,
    Verdict,
    is_accepted,
    partial_credit,
)
from worksample.results.round_evaluations import latest, once

from .criterion_marks import FEW, awaited, by_criteria, each_grade
from .job_qualification import qualified_frame
from .round_evaluations import RoundEvaluations, said_of

_GIVEN = EvaluationOutcome.GIVEN.value
DECIDED, UNDECIDED, UNGRADED = (s.value for s in (Standing.DECIDED, Standing.UNDECIDED, Standing.UNGRADED))
VERDICTS: dict[str, pl.DataType] = {
    "subject": pl.String(),
    "standing": pl.String(),
    "score": pl.Float64(),
    "passed": pl.Boolean(),
    "partial": pl.Float64(),
    "label": pl.Int64(),
    "verdict_cause": pl.String(),
    "reason": pl.String(),
    "evaluation": pl.String(),
    "by": pl.String(),
    "evaluations": pl.List(pl.String()),
    "rounds": pl.List(pl.String()),
}
"""`evaluation`: the one whose grade says the same as the verdict; null for votes, means and what was joined of several.
`by`: votes, audit or adjudication. `evaluations`, `rounds`: what the verdict rests on, by time, and where it was said.
"""


def wants_leaves(round: Round) -> bool:
    """Whether its verdicts are made of criteria, not of whole grades."""
    return round.protocol is Protocol.RUBRIC or round.rule in (ResolutionRule.MAJORITY, ResolutionRule.TIE_BREAK)


def verdict_frame(round: Round, said: RoundEvaluations, rules: RubricRules | None = None) -> pl.DataFrame:
    """A row per subject that has an evaluation in `said`; pairs have none (`metrics.project_preferences`).

    What is struck leaves as if it had never been said. A subject of which nothing given stands is ungraded. Votes are
    counted on passing; grades by the latest, by their mean, or criterion by criterion.
    """
    rules = rules or RubricRules()
    single = said.rows.filter(pl.col("second").is_null())
    rows = single.filter(~pl.col("struck"))
    given = rows.filter(pl.col("outcome") == _GIVEN)
    votes = given.filter(pl.col("payload") == "holistic")
    voted = (pl.col("payload") == "holistic").any().over("subject")
    grades = given.filter(~voted & (pl.col("payload") == "grade"))
    parts = [_voted(round, votes), _graded(round, grades, said.leaves, rules)]
    if round.purpose is Purpose.QUALIFICATION:
        parts.append(qualified_frame(round, given.filter(pl.col("payload") == "labels")))
    parts.append(_rest(given, parts, "no payload that decides", UNDECIDED))
    parts[-1] = parts[-1].join(_resting(given), on="subject", how="left")
    parts.append(_silent(rows.filter(~(pl.col("outcome") == _GIVEN).any().over("subject"))))
    parts.append(_rest(single, parts, "every evaluation of it was struck", UNGRADED))
    whole = _excused(pl.concat([shaped(p) for p in parts]), rows)
    sure = pl.col("standing") == DECIDED
    partial = partial_credit(pl.col("score"), pl.col("passed").cast(pl.Float64))
    return whole.with_columns(by=pl.lit("votes"), partial=pl.when(sure).then(partial)).sort("subject")


def resolve(
    round: Round, evaluations: Iterable[Evaluation], amendments: Iterable[Amendment] = ()
) -> dict[str, Verdict]:
    """`verdict_frame` of records: a verdict per subject that has at least one evaluation in `round`.

    The order of `evaluations` never matters.
    """
    mine = [e for e in evaluations if e.round == round.id]
    grades = {e.id: e.payload for e in mine if isinstance(e.payload, GradePayload)}
    frame = verdict_frame(round, said_of(mine, amendments, leaves=wants_leaves(round)))
    return {row["subject"]: verdict_of(row, grades) for row in frame.iter_rows(named=True)}


def verdict_of(row: Mapping[str, object], grades: Mapping[str, GradePayload] | None = None) -> Verdict:
    """A row of a `verdict_frame` as a record. `grades`: by evaluation, where the one that decides is wanted."""
    names = ("subject", "standing", "score", "passed", "label", "reason")
    told = {name: row[name] for name in names} | {"cause": row["verdict_cause"], "evaluations": row["evaluations"]}
    decides = str(row["evaluation"]) if row["standing"] == DECIDED else ""
    return Verdict.model_validate({**told, "grade": (grades or {}).get(decides)})


def shaped(part: pl.DataFrame) -> pl.DataFrame:
    """`part` with all columns of `VERDICTS`, empty where it has none."""
    lists = ("evaluations", "rounds")
    return part.select(
        (pl.col(n) if n in part.columns else pl.lit([] if n in lists else None, dtype=kind)).cast(kind).alias(n)
        for n, kind in VERDICTS.items()
    )


def _rest(rows: pl.DataFrame, parts: Sequence[pl.DataFrame], reason: str, standing: str) -> pl.DataFrame:
    """The subjects of `rows` that none of `parts` has."""
    left = rows.select("subject").unique()
    for part in parts:
        left = left.join(part, on="subject", how="anti")
    return left.with_columns(standing=pl.lit(standing), reason=pl.lit(reason))


def _resting(rows: pl.DataFrame) -> pl.DataFrame:
    both = (pl.col("evaluation").alias("evaluations"), pl.col("round").unique(maintain_order=True).alias("rounds"))
    return rows.group_by("subject", maintain_order=True).agg(both)


def _silent(rows: pl.DataFrame) -> pl.DataFrame:
    """Subjects of which nobody said anything: the last one's reason."""
    last = rows.unique("subject", keep="last", maintain_order=True)
    return last.select("subject", standing=pl.lit(UNGRADED), verdict_cause="cause", reason=_why_silent())


def _why_silent() -> pl.Expr:
    """An evaluation's own reason, else what its cause says."""
    causes = {cause.value: POLICY[cause].says for cause in Cause}
    why = pl.col("cause").replace_strict(causes, default=None, return_dtype=pl.String)
    return pl.when(pl.col("reason").fill_null("") != "").then("reason").otherwise(why).fill_null("declined")


def _excused(told: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """What lacks answers is ungraded for the failure of the last one that failed: who was asked in vain is not waited
    for.
    """
    failed = rows.filter(pl.col("outcome") == EvaluationOutcome.FAILED.value).unique(
        "subject", keep="last", maintain_order=True
    )
    failed = failed.select("subject", failure="cause", said=_why_silent())
    told = told.join(failed, on="subject", how="left", maintain_order="left")
    vain = pl.col("verdict_cause").is_in([cause.value for cause in AWAITED.values()]) & pl.col("failure").is_not_null()
    return told.with_columns(
        standing=pl.when(vain).then(pl.lit(UNGRADED)).otherwise("standing"),
        reason=pl.when(vain).then(pl.col("reason") + ": " + pl.col("said")).otherwise("reason"),
        verdict_cause=pl.when(vain).then("failure").otherwise("verdict_cause"),
    ).drop("failure", "said")


def _voted(round: Round, votes: pl.DataFrame) -> pl.DataFrame:
    """Holistic votes: majority on passing, the label by majority of the values, else their median (RLI 3.4, B.2).

    Passing is decided as soon as no outstanding vote can change it; the label once a majority shares it or all are in.
    """
    yes = is_accepted(pl.col("score"))
    latest = round.rule is ResolutionRule.LATEST
    votes = votes.unique("subject", keep="last", maintain_order=True) if latest else once(votes)
    if round.rule is ResolutionRule.TIE_BREAK:
        # Two votes that agree on passing settle it; else the third breaks the tie. Later ones are not asked for.
        split = yes.head(2).n_unique().over("subject") == 2
        votes = votes.filter(pl.int_range(pl.len()).over("subject") < pl.when(split).then(3).otherwise(2))
    counted = votes.group_by("subject", maintain_order=True).agg(
        *((pl.col("score") == v).sum().cast(pl.Int64).alias(str(v)) for v in (1, 2, 3)),
        "evaluation",
        pl.col("round").unique(maintain_order=True),
        split=yes.head(2).n_unique() == 2,
        total=pl.len().cast(pl.Int64),
    )
    if round.rule is ResolutionRule.LATEST:
        wanted = np.ones(counted.height, dtype=np.int64)
    elif round.rule is ResolutionRule.TIE_BREAK:
        wanted = np.where(counted["split"].to_numpy(), 3, 2)
    else:
        wanted = np.maximum(counted["total"].to_numpy(), round.overlap)
    passed, known, label = decide(counted.select("1", "2", "3").to_numpy().T.astype(np.int64), wanted)
    few = pl.col("total") < pl.Series(wanted)
    why = pl.when(few).then(pl.lit("too few votes")).otherwise(pl.lit("the votes are split"))
    settled = pl.Series(known)
    return counted.select(
        "subject",
        standing=pl.when(settled).then(pl.lit(DECIDED)).otherwise(pl.lit(UNDECIDED)),
        score=pl.when(settled).then(pl.Series(passed).cast(pl.Float64)),
        passed=pl.when(settled).then(pl.Series(passed)),
        label=pl.when(pl.Series(label) > 0).then(pl.Series(label)),
        reason=pl.when(settled).then(pl.lit("")).otherwise(why),
        verdict_cause=pl.when(~settled & few).then(awaited(round)),
        evaluations="evaluation",
        rounds="round",
    )


def _graded(round: Round, grades: pl.DataFrame, leaves: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    grades = latest(grades)
    if round.rule in (ResolutionRule.MAJORITY, ResolutionRule.TIE_BREAK):
        return by_criteria(round, grades, leaves, rules)
    each = each_grade(round, grades, leaves, rules)
    return _meant(round, each) if round.rule is ResolutionRule.MEAN else _latest(each)


def _latest(each: pl.DataFrame) -> pl.DataFrame:
    last = each.unique("subject", keep="last", maintain_order=True)
    sure = pl.col("why").is_null()
    return last.select(
        "subject",
        "evaluation",
        standing=pl.when(sure).then(pl.lit(DECIDED)).otherwise(pl.lit(UNGRADED)),
        score=pl.when(sure).then("score"),
        passed=pl.when(sure).then("passed"),
        reason=pl.col("why").fill_null(""),
        evaluations=pl.concat_list("evaluation"),
        rounds=pl.concat_list("round"),
    )


def _meant(round: Round, each: pl.DataFrame) -> pl.DataFrame:
    """The mean score; passed where more than half did. One grade that stays open leaves the mean open, and graders of a
    rubric who are split evenly on its completion leave that open.
    """
    even = (pl.col("passed").cast(pl.Int64).sum() * 2 == pl.len()) & (round.protocol is Protocol.RUBRIC)
    many = each.group_by("subject", maintain_order=True).agg(
        "evaluation",
        pl.col("round").unique(maintain_order=True),
        total=pl.len().cast(pl.Int64),
        why=pl.col("why").drop_nulls().first(),
        score=pl.col("score").mean(),
        gated=pl.col("passed").is_not_null().all() & ~even,
        passed=pl.col("passed").cast(pl.Int64).sum() * 2 > pl.len(),
    )
    few, open_ = pl.col("total") < round.overlap, pl.col("why").is_not_null()
    sure = ~few & ~open_
    standing = pl.when(few).then(pl.lit(UNDECIDED)).when(open_).then(pl.lit(UNGRADED)).otherwise(pl.lit(DECIDED))
    return many.select(
        "subject",
        standing=standing,
        score=pl.when(sure).then("score"),
        passed=pl.when(sure & pl.col("gated")).then("passed"),
        reason=pl.when(few).then(pl.lit(FEW)).otherwise(pl.col("why").fill_null("")),
        verdict_cause=pl.when(few).then(awaited(round)),
        evaluations="evaluation",
        rounds="round",
    )
