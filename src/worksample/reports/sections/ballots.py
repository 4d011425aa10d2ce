"""Votes of a round as ballots, one set of ballots per scale."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import PairwiseChoice, Protocol
from worksample.results.judged_rounds import JudgedRound
from worksample.results.result_set import ResultSet

_SIDES = {PairwiseChoice.FIRST.value: 1.0, PairwiseChoice.EQUAL.value: 0.5, PairwiseChoice.SECOND.value: 0.0}


def ballots_of(results: ResultSet, judged: JudgedRound) -> Iterator[tuple[str, pl.DataFrame, m.Scale]]:
    """Yield (name, votes, scale) for each scale that a round votes on."""
    task = pl.col("instance").replace_strict(results.tasks, default=None, return_dtype=pl.String)
    given = results.keep_chosen(judged.given, "subject", "second").with_columns(
        project=task.fill_null(pl.col("instance")), order="at"
    )
    if judged.round.protocol is Protocol.HOLISTIC:
        yield "holistic votes", given.filter(pl.col("payload") == "holistic").with_columns(vote="score"), m.HOLISTIC
    elif judged.round.protocol is Protocol.PAIRWISE:
        pairs = given.filter((pl.col("payload") == "pairwise") & pl.col("second").is_not_null())
        turned = pl.col("subject") > pl.col("second")
        ends = (pl.min_horizontal("subject", "second"), pl.max_horizontal("subject", "second"))
        # Oriented so that the same pair is one item, whichever side was shown first.
        pairs = pairs.with_columns(subject=pl.concat_str(ends, separator="\x1f"), turned=turned)
        for scale in ("completion", "quality"):
            toward = pl.col(scale).replace_strict(_SIDES, return_dtype=pl.Float64)
            vote = pl.when("turned").then(1 - toward).otherwise(toward)
            yield f"pairs: {scale}", pairs.with_columns(vote=vote), m.PREFERENCE
    else:
        marks = judged.criteria.filter(pl.col("skip").is_null())
        marks = marks.join(given.select("evaluation", "evaluator", "project", "order", "draw"), on="evaluation")
        item = pl.concat_str("subject", "name", separator="\x1f")
        yield "criteria", marks.with_columns(subject=item, vote=pl.col("passed").cast(pl.Float64)), m.PASS_FAIL
