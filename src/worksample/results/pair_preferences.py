"""Preferences of a judge and of people, pair by pair. The judge answers all drawn pairs, people answer some of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from worksample import metrics as m
from worksample.records import EvaluatorKind, Protocol, ResolutionRule, Round

from .judged_rounds import RoundReader
from .pair_sampling import key_of
from .result_set import ResultSet

PREFERRED = {
    **dict.fromkeys(("pair", "one", "two", "instance", "by"), pl.String()),
    "judge": pl.Float64(),
    "person": pl.Float64(),
    "parted": pl.Boolean(),
}
"""Columns of `pair_preferences`. `one` and `two` are the submissions, in the order of their ids. `judge` and `person`
are the preference for `one`: 0 to 1 for the judge, and 0, 0.5 or 1 for people. They are null if there is no answer.
`by` names the judges that answered. `parted` is true if their answers differ.
"""


def passed_submissions(work: ResultSet) -> pl.DataFrame:
    """Return the columns `submission` and `passed`. People's holistic verdicts are used if there are any, otherwise the
    verdicts under the first protocol.
    """
    for protocol in (Protocol.HOLISTIC, work.primary):
        frame = work.judged_frame(protocol)
        if frame is not None:
            return frame.drop_nulls("submission").select("submission", "passed").unique("submission", keep="last")
    return pl.DataFrame(schema={"submission": pl.String, "passed": pl.Boolean})


def pair_preferences(work: ResultSet, judged: Round, people: Sequence[Round]) -> pl.DataFrame:
    """Return a row for each pair that was answered in the judge's round or in people's rounds, with the columns of
    `PREFERRED`.
    """
    judging, passed = RoundReader(work.store, work.amendments, work.rules.rubric), passed_submissions(work)
    votes = [_votes(judging, round, passed) for round in (judged, *people)]
    asked = pl.concat(votes)
    if not asked.height:
        return pl.DataFrame(schema=PREFERRED)
    own = asked.filter(pl.col("kind") == EvaluatorKind.JUDGE.value).drop_nulls("toward")
    judge = own.group_by("pair").agg(
        judge=pl.col("toward").mean(), parted=pl.col("toward").n_unique() > 1,
        by=pl.col("evaluator").unique().sort().str.join("+"),
    )  # fmt: skip
    rows = asked.select("pair", "one", "two", "instance").unique("pair", maintain_order=True)
    rows = rows.join(judge, on="pair", how="left", maintain_order="left")
    rows = rows.join(_settle_pairs(asked, people), on="pair", how="left", maintain_order="left")
    filled = (pl.col("by").fill_null(""), pl.col("parted").fill_null(False))
    return rows.with_columns(*filled).select(pl.col(name).cast(kind) for name, kind in PREFERRED.items())


def _votes(judging: RoundReader, round: Round, passed: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each vote of a round. The column `toward` is the preference for the submission in the column
    `one`.
    """
    given = judging.read_round(round, [round.id]).given
    given = given.filter((pl.col("payload") == "pairwise") & pl.col("second").is_not_null())
    for side, work in (("first_passed", "subject"), ("second_passed", "second")):
        known = passed.rename({"submission": work, "passed": side})
        given = given.join(known, on=work, how="left", maintain_order="left")
    each = m.pair_preference(given["completion"], given["quality"], given["first_passed"], given["second_passed"])
    straight = pl.col("subject") < pl.col("second")
    return given.with_columns(each.alias("toward")).select(
        pl.struct("subject", "second").map_elements(lambda p: key_of(*p.values()), pl.String).alias("pair"),
        pl.min_horizontal("subject", "second").alias("one"),
        pl.max_horizontal("subject", "second").alias("two"),
        "instance",
        "evaluator",
        pl.lit(round.by.value).alias("kind"),
        pl.when(straight).then("toward").otherwise(1 - pl.col("toward")).alias("toward"),
    )


def _settle_pairs(votes: pl.DataFrame, people: Sequence[Round]) -> pl.DataFrame:
    """Return the columns `pair` and `person`: the result of people's votes on each pair that has enough votes."""
    own = votes.filter(pl.col("kind") == EvaluatorKind.PERSON.value).drop_nulls("toward")
    # A person who answered on a pair in two rounds counts once.
    own = own.unique(["pair", "evaluator"], keep="last", maintain_order=True)
    if not own.height:
        return pl.DataFrame(schema={"pair": pl.String, "person": pl.Float64})
    wanted = max(round.overlap for round in people)
    how = m.TIE_BREAK if people[-1].rule is ResolutionRule.TIE_BREAK else m.VoteProtocol("votes", wanted, wanted)
    told = m.project_preferences(
        own["pair"], own["one"], own["two"], own["toward"], evaluator=own["evaluator"], protocol=how
    )
    return told.select(pair="project", person="preference")
