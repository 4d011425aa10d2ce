"""The verdicts of a round: a row for each subject, computed from its evaluations by the rule of the round. No other
module computes these verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from worksample.errors import POLICY, Cause
from worksample.metrics.judgments.vote_verdicts import decide
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
from worksample.results.round_evaluations import count_once, keep_latest

from .criterion_marks import FEW, awaited_cause, grade_outcomes, verdicts_by_criterion
from .job_suitability import qualified_frame
from .round_evaluations import RoundEvaluations, evaluations_of

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
"""Columns of a table of verdicts. `evaluation` is the evaluation whose grade is the verdict; null for votes, means and
joined verdicts. `by` says whether votes, an audit or an adjudication decided. `evaluations` and `rounds` list what
the verdict was computed from, oldest first.
"""


def wants_leaves(round: Round) -> bool:
    """Return whether the round's verdicts are computed from the answers to criteria instead of whole grades."""
    return round.protocol is Protocol.RUBRIC or round.rule in (ResolutionRule.MAJORITY, ResolutionRule.TIE_BREAK)


def verdict_frame(round: Round, said: RoundEvaluations, rules: RubricRules | None = None) -> pl.DataFrame:
    """Return a row for each subject that has an evaluation in `said`. Pairs have no rows (see
    `metrics.project_preferences`).

    Withdrawn (struck) evaluations are ignored. A subject without a given evaluation is ungraded. Votes are counted as
    accepting or not. Grades are combined by the rule of the round: the latest, the mean, or criterion by criterion.
    """
    rules = rules or RubricRules()
    single = said.rows.filter(pl.col("second").is_null())
    rows = single.filter(~pl.col("struck"))
    given = rows.filter(pl.col("outcome") == _GIVEN)
    votes = given.filter(pl.col("payload") == "holistic")
    voted = (pl.col("payload") == "holistic").any().over("subject")
    grades = given.filter(~voted & (pl.col("payload") == "grade"))
    parts = [_resolve_votes(round, votes), _resolve_grades(round, grades, said.leaves, rules)]
    if round.purpose is Purpose.QUALIFICATION:
        parts.append(qualified_frame(round, given.filter(pl.col("payload") == "labels")))
    parts.append(_remaining_verdicts(given, parts, "no payload that decides", UNDECIDED))
    parts[-1] = parts[-1].join(_resting(given), on="subject", how="left")
    parts.append(_unanswered_verdicts(rows.filter(~(pl.col("outcome") == _GIVEN).any().over("subject"))))
    parts.append(_remaining_verdicts(single, parts, "every evaluation of it was struck", UNGRADED))
    whole = _excuse_missing(pl.concat([with_verdict_columns(p) for p in parts]), rows)
    sure = pl.col("standing") == DECIDED
    partial = partial_credit(pl.col("score"), pl.col("passed").cast(pl.Float64))
    return whole.with_columns(by=pl.lit("votes"), partial=pl.when(sure).then(partial)).sort("subject")


def resolve(
    round: Round, evaluations: Iterable[Evaluation], amendments: Iterable[Amendment] = ()
) -> dict[str, Verdict]:
    """Return the verdict on each subject that has at least one evaluation in `round`, computed from records.

    The order of `evaluations` does not matter.
    """
    mine = [e for e in evaluations if e.round == round.id]
    grades = {e.id: e.payload for e in mine if isinstance(e.payload, GradePayload)}
    frame = verdict_frame(round, evaluations_of(mine, amendments, leaves=wants_leaves(round)))
    return {row["subject"]: verdict_of(row, grades) for row in frame.iter_rows(named=True)}


def verdict_of(row: Mapping[str, object], grades: Mapping[str, GradePayload] | None = None) -> Verdict:
    """Convert a row of a `verdict_frame` to a `Verdict`. grades: grades by evaluation id; the deciding grade is then
    part of the verdict.
    """
    names = ("subject", "standing", "score", "passed", "label", "reason")
    told = {name: row[name] for name in names} | {"cause": row["verdict_cause"], "evaluations": row["evaluations"]}
    decides = str(row["evaluation"]) if row["standing"] == DECIDED else ""
    return Verdict.model_validate({**told, "grade": (grades or {}).get(decides)})


def with_verdict_columns(part: pl.DataFrame) -> pl.DataFrame:
    """Return `part` with all columns of `VERDICTS`. Columns that are missing in `part` are null, or empty lists."""
    lists = ("evaluations", "rounds")
    return part.select(
        (pl.col(n) if n in part.columns else pl.lit([] if n in lists else None, dtype=kind)).cast(kind).alias(n)
        for n, kind in VERDICTS.items()
    )


def _remaining_verdicts(rows: pl.DataFrame, parts: Sequence[pl.DataFrame], reason: str, standing: str) -> pl.DataFrame:
    """Return a verdict with this reason and standing for each subject in `rows` that is in none of `parts`."""
    left = rows.select("subject").unique()
    for part in parts:
        left = left.join(part, on="subject", how="anti")
    return left.with_columns(standing=pl.lit(standing), reason=pl.lit(reason))


def _resting(rows: pl.DataFrame) -> pl.DataFrame:
    both = (pl.col("evaluation").alias("evaluations"), pl.col("round").unique(maintain_order=True).alias("rounds"))
    return rows.group_by("subject", maintain_order=True).agg(both)


def _unanswered_verdicts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ungraded verdicts for these subjects, with the reason of the last evaluation."""
    last = rows.unique("subject", keep="last", maintain_order=True)
    return last.select("subject", standing=pl.lit(UNGRADED), verdict_cause="cause", reason=_failure_reason())


def _failure_reason() -> pl.Expr:
    """Return the reason of an evaluation, or the description of its cause if it has no reason."""
    causes = {cause.value: POLICY[cause].description for cause in Cause}
    why = pl.col("cause").replace_strict(causes, default=None, return_dtype=pl.String)
    return pl.when(pl.col("reason").fill_null("") != "").then("reason").otherwise(why).fill_null("declined")


def _excuse_missing(told: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Mark subjects whose awaited evaluator has failed as ungraded, with the last failure as the reason."""
    failed = rows.filter(pl.col("outcome") == EvaluationOutcome.FAILED.value).unique(
        "subject", keep="last", maintain_order=True
    )
    failed = failed.select("subject", failure="cause", said=_failure_reason())
    told = told.join(failed, on="subject", how="left", maintain_order="left")
    vain = pl.col("verdict_cause").is_in([cause.value for cause in AWAITED.values()]) & pl.col("failure").is_not_null()
    return told.with_columns(
        standing=pl.when(vain).then(pl.lit(UNGRADED)).otherwise("standing"),
        reason=pl.when(vain).then(pl.col("reason") + ": " + pl.col("said")).otherwise("reason"),
        verdict_cause=pl.when(vain).then("failure").otherwise("verdict_cause"),
    ).drop("failure", "said")


def _resolve_votes(round: Round, votes: pl.DataFrame) -> pl.DataFrame:
    """Compute verdicts from holistic votes (RLI 3.4, B.2). A majority decides whether the work passed. The label is the
    vote of the majority, otherwise the median.

    Whether the work passed is decided as soon as no missing vote can change it. The label is decided as soon as a
    majority shares it, or all votes exist.
    """
    yes = is_accepted(pl.col("score"))
    latest = round.rule is ResolutionRule.LATEST
    votes = votes.unique("subject", keep="last", maintain_order=True) if latest else count_once(votes)
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
        verdict_cause=pl.when(~settled & few).then(awaited_cause(round)),
        evaluations="evaluation",
        rounds="round",
    )


def _resolve_grades(round: Round, grades: pl.DataFrame, leaves: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    grades = keep_latest(grades)
    if round.rule in (ResolutionRule.MAJORITY, ResolutionRule.TIE_BREAK):
        return verdicts_by_criterion(round, grades, leaves, rules)
    each = grade_outcomes(round, grades, leaves, rules)
    return _average_grades(round, each) if round.rule is ResolutionRule.MEAN else _latest(each)


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


def _average_grades(round: Round, each: pl.DataFrame) -> pl.DataFrame:
    """Return verdicts with the mean score of all grades. The work passed if more than half of the grades passed.

    If one grade has no outcome, the verdict is ungraded. If half of the graders of a rubric say that the work is
    complete, `passed` is null.
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
        verdict_cause=pl.when(few).then(awaited_cause(round)),
        evaluations="evaluation",
        rounds="round",
    )
