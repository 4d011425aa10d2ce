"""Verdicts after second looks, which are audits and adjudications of earlier verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from worksample.errors import Cause
from worksample.records import Standing

from .verdicts import VERDICTS, with_verdict_columns

ROUTED = "calibration.routed"
"""Key in the `versions` of an adjudication. It marks that people decide its subjects, because the judge may not decide
them.
"""


def overrule_frame(
    votes: pl.DataFrame, audits: Sequence[pl.DataFrame], adjudications: Sequence[pl.DataFrame]
) -> pl.DataFrame:
    """Return the verdicts in `votes` after audits and adjudications were applied. Each of these is a `verdict_frame`,
    oldest first.

    An adjudication replaces every verdict that it decided. Otherwise an audit replaces a verdict if it fails a
    submission that the votes passed: the purpose of audits is to find false positives (RLI B.5). An audit never changes
    a fail to a pass. If several rounds of one purpose decided a submission, the latest one counts.
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


def mark_awaiting(verdicts: pl.DataFrame, routed: Sequence[str]) -> pl.DataFrame:
    """Return `verdicts` with the subjects in `routed` marked as waiting for people, unless an adjudication decided
    them.
    """
    open_ = pl.col("subject").is_in(list(routed)) & (pl.col("by") != "adjudication")
    told = {
        "standing": Standing.UNGRADED.value,
        "verdict_cause": Cause.PERSON_AWAITED.value,
        "reason": "goes to people: the judge may not decide it",
    }
    fixed = (pl.lit(value).alias(name) for name, value in told.items())
    waiting = with_verdict_columns(verdicts.filter(open_).select("subject", "by", "rounds", *fixed))
    return pl.concat([verdicts.filter(~open_), waiting]).sort("subject") if waiting.height else verdicts
