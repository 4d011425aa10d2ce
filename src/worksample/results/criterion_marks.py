"""Grades criterion by criterion: the mark and points of each criterion, and the marks on which several raters agree."""

from __future__ import annotations

import polars as pl

from worksample.metrics.scores.rubric import Mark, RubricRules, rubric_scores
from worksample.records import AWAITED, Protocol, ResolutionRule, Round, SkipReason, Standing, is_full
from worksample.results.round_evaluations import keep_latest

PASS, FAIL, NOT_APPLICABLE, CANNOT = (m.value for m in (Mark.PASS, Mark.FAIL, Mark.NOT_APPLICABLE, Mark.CANNOT_JUDGE))
VOID = "no criterion applies"
FEW = "too few grades"
_WAITS = {by: cause.value for by, cause in AWAITED.items()}
_MARKS = {SkipReason.NOT_APPLICABLE.value: NOT_APPLICABLE, SkipReason.CANNOT_JUDGE.value: CANNOT}
_TWO, _THREE = 2, 3


def awaited_cause(round: Round) -> pl.Expr:
    """Return the cause of a verdict that needs more answers: it waits for people or for a judge. The cause is null for
    programs, which are never awaited.
    """
    return pl.lit(_WAITS.get(round.by), dtype=pl.String)


def marks_of(leaves: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    """Return `leaves` with the column `mark` (a value of `metrics.Mark`). A missing importance becomes `important`."""
    got = pl.when("passed").then(pl.lit(PASS)).otherwise(pl.lit(FAIL))
    skip = pl.lit(None, dtype=pl.String) if rules.skips == "as misses" else pl.col("skip")
    mark = skip.replace_strict(_MARKS, default=None, return_dtype=pl.String).fill_null(got)
    return leaves.with_columns(mark=mark, importance=pl.col("importance").fill_null("important"))


def grade_outcomes(round: Round, grades: pl.DataFrame, leaves: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    """Return `grades` with the outcome of each grade: `score`, `passed`, and in `why` the reason if the grade has no
    outcome.

    Under a rubric, the outcome is computed from the criteria, and `passed` means completion (UpBench 5.2.1). Under
    other protocols, the grade's own score is used.
    """
    stuck = "could not be judged: " + pl.col("undecided")
    why = pl.when(pl.col("undecided").is_not_null()).then(stuck).when("void").then(pl.lit(VOID))
    table = grades.with_columns(passed="full", why=why)
    if round.protocol is not Protocol.RUBRIC:
        return table
    if rules.skips == "as misses":
        table = table.with_columns(why=pl.lit(None, dtype=pl.String))
    marks = marks_of(leaves.filter(pl.col("name") != ""), rules)
    scored = rubric_scores(marks["evaluation"], marks["importance"], marks["mark"], rules)
    scored = scored.select(evaluation="submission", completed="completed", share="score", known=pl.lit(True))
    table = table.join(scored, on="evaluation", how="left", maintain_order="left")
    own = pl.col("known").is_null()
    return table.with_columns(
        score=pl.when(own).then("score").otherwise("share"), passed=pl.when(own).then("passed").otherwise("completed")
    ).drop("completed", "share", "known")


def verdicts_by_criterion(round: Round, grades: pl.DataFrame, leaves: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    """Return the verdicts of several raters, decided criterion by criterion after `overlap` grades exist.

    A criterion gets the mark that more than half of the raters gave. If a grade does not name the criterion, its mark
    counts as "could not judge". Under the rule `tie_break`, two raters decide if they agree on every criterion;
    otherwise a third rater is asked.
    """
    if round.rule is ResolutionRule.TIE_BREAK:
        grades = grades.filter(pl.int_range(pl.len()).over("subject") < _THREE)
    raters = grades.group_by("subject", maintain_order=True).agg(
        "evaluation", pl.col("round").unique(maintain_order=True), raters=pl.len().cast(pl.Int64)
    )
    marks = marks_of(leaves, rules).join(
        grades.select("evaluation", "subject", "score", place=pl.int_range(pl.len())), on="evaluation", how="inner"
    )
    agreed = _majority_marks(marks, raters)
    result = raters.join(_sums(agreed), on="subject", how="left", maintain_order="left")
    result = result.join(_scores(round, agreed, rules), on="subject", how="left", maintain_order="left")
    result = result.join(_matching_evaluations(marks, agreed), on="subject", how="left", maintain_order="left")
    if round.protocol is not Protocol.RUBRIC:
        # A grade with the agreed mark on every criterion already joins them by its composition.
        result = result.with_columns(score=pl.coalesce("own", "score"))
        result = result.with_columns(passed=is_full(pl.col("score")))
    return _verdict_rows(round, result)


def agreed_leaves(round: Round, given: pl.DataFrame, leaves: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    """Return a row for each submission and criterion that its graders answered, combined by the rule of the round.

    Columns: subject, name, mark, share. The mark is null if the raters are evenly split. The share of the points is
    null if the criterion does not apply or nobody could judge it.
    """
    grades = keep_latest(given.filter((pl.col("payload") == "grade") & pl.col("second").is_null()))
    if round.rule is ResolutionRule.LATEST:
        grades = grades.unique("subject", keep="last", maintain_order=True)
    elif round.rule is ResolutionRule.TIE_BREAK:
        grades = grades.filter(pl.int_range(pl.len()).over("subject") < _THREE)
    raters = grades.group_by("subject", maintain_order=True).agg(raters=pl.len().cast(pl.Int64))
    marks = marks_of(leaves, rules).join(
        grades.select("evaluation", "subject", "score", place=pl.int_range(pl.len())), on="evaluation", how="inner"
    )
    agreed = _majority_marks(marks, raters)
    if round.rule is ResolutionRule.MEAN and round.protocol is not Protocol.RUBRIC:
        agreed = agreed.drop("mark", "share").join(_means(marks), on=["subject", "name"], maintain_order="left")
    return agreed.select("subject", "name", "mark", "share")


def _means(marks: pl.DataFrame) -> pl.DataFrame:
    """Return the mean share for each submission and criterion. If a grader could not judge a criterion, its mark is
    "could not judge".
    """
    each = marks.group_by("subject", "name").agg(
        share=pl.col("fraction").mean(), stuck=(pl.col("mark") == CANNOT).any()
    )
    got = pl.when(is_full(pl.col("share"))).then(pl.lit(PASS)).otherwise(pl.lit(FAIL))
    void = pl.col("share").is_null()
    mark = pl.when("stuck").then(pl.lit(CANNOT)).when(void).then(pl.lit(NOT_APPLICABLE)).otherwise(got)
    return each.select("subject", "name", "share", mark=mark)


def _majority_marks(marks: pl.DataFrame, raters: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each submission and criterion, with the mark that more than half of the raters gave. The mark is
    null if no mark has such a majority.
    """
    each = marks.sort("place").group_by("subject", "name", maintain_order=True).agg(
        *((pl.col("mark") == mark).sum().cast(pl.Int64).alias(mark) for mark in (PASS, FAIL, NOT_APPLICABLE, CANNOT)),
        pl.col("importance").first(),
        pl.col("points").first(),
        pl.col("gate").any(),
        said=pl.len().cast(pl.Int64),
        missed=pl.col("fraction").fill_null(0.0).filter(pl.col("mark") == FAIL).median(),
    )  # fmt: skip
    each = each.join(raters.select("subject", "raters"), on="subject", maintain_order="left")
    each = each.with_columns((pl.col(CANNOT) + pl.col("raters") - pl.col("said")).alias(CANNOT))
    winner = pl.lit(None, dtype=pl.String)
    for mark in (PASS, FAIL, NOT_APPLICABLE, CANNOT):
        winner = pl.when(2 * pl.col(mark) > pl.col("raters")).then(pl.lit(mark)).otherwise(winner)
    each = each.with_columns(mark=winner)
    share = pl.when(pl.col("mark") == PASS).then(1.0).when(pl.col("mark") == FAIL).then("missed")
    return each.with_columns(share=share).drop(PASS, FAIL, NOT_APPLICABLE, CANNOT, "said", "missed")


def _sums(agreed: pl.DataFrame) -> pl.DataFrame:
    named = pl.col("name").replace("", "the whole")
    return agreed.group_by("subject").agg(
        split=named.filter(pl.col("mark").is_null()).str.join(", "),
        stuck=named.filter(pl.col("mark") == CANNOT).str.join(", "),
    )


def _scores(round: Round, agreed: pl.DataFrame, rules: RubricRules) -> pl.DataFrame:
    known = agreed.filter(pl.col("mark").is_not_null().all().over("subject"))
    if round.protocol is Protocol.RUBRIC:
        scored = rubric_scores(known["subject"], known["importance"], known["mark"], rules)
        return scored.select(subject="submission", score="score", passed="completed")
    counted = known.filter(pl.col("share").is_not_null())
    closed = (pl.col("gate") & (pl.col("mark") == FAIL)).any()
    mean = (pl.col("share") * pl.col("points")).sum() / pl.col("points").sum()
    return counted.group_by("subject").agg(score=pl.when(closed).then(0.0).otherwise(mean).clip(0.0, 1.0))


def _matching_evaluations(marks: pl.DataFrame, agreed: pl.DataFrame) -> pl.DataFrame:
    """Return, for each submission, the latest evaluation whose marks all equal the agreed marks, with the score of this
    evaluation.
    """
    wanted = agreed.select("subject", "name", "share", agreed="mark")
    size = agreed.group_by("subject").agg(size=pl.len())
    missed = pl.col("fraction").fill_null(0.0) == pl.col("share")
    same = (pl.col("mark") == pl.col("agreed")) & ((pl.col("agreed") != FAIL) | missed)
    found = marks.join(wanted, on=["subject", "name"]).join(size, on="subject")
    found = found.group_by("subject", "evaluation", "place").agg(
        own=pl.col("score").first(), whole=same.fill_null(False).sum() == pl.col("size").first()
    )
    last = found.filter("whole").sort("place").unique("subject", keep="last", maintain_order=True)
    return last.select("subject", "own", match="evaluation")


def _verdict_rows(round: Round, result: pl.DataFrame) -> pl.DataFrame:
    split, stuck = pl.col("split").fill_null("") != "", pl.col("stuck").fill_null("") != ""
    few = pl.col("raters") < (_TWO if round.rule is ResolutionRule.TIE_BREAK else round.overlap)
    if round.rule is ResolutionRule.TIE_BREAK:
        few |= split & (pl.col("raters") < _THREE)
    void = pl.col("score").is_null()
    sure = ~(few | split | stuck | void)
    undecided, ungraded = pl.lit(Standing.UNDECIDED.value), pl.lit(Standing.UNGRADED.value)
    return result.select(
        "subject",
        standing=pl.when(few | split).then(undecided).when(stuck | void).then(ungraded)
        .otherwise(pl.lit(Standing.DECIDED.value)),
        score=pl.when(sure).then("score"),
        passed=pl.when(sure).then("passed"),
        reason=pl.when(few).then(pl.lit(FEW))
        .when(split).then("the raters are split on: " + pl.col("split"))
        .when(stuck).then("could not be judged: " + pl.col("stuck"))
        .when(void).then(pl.lit(VOID)).otherwise(pl.lit("")),
        verdict_cause=pl.when(few).then(awaited_cause(round)),
        evaluation=pl.when(sure).then("match"),
        evaluations="evaluation",
        rounds="round",
    )  # fmt: skip
