"""What stands after people looked again."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from worksample.records import Standing

from .resolving import VERDICTS


def overrule_frame(
    votes: pl.DataFrame, audits: Sequence[pl.DataFrame], adjudications: Sequence[pl.DataFrame]
) -> pl.DataFrame:
    """The verdicts `votes` after audits and adjudications of them (each a `verdict_frame`, by time).

    An adjudication counts wherever it decided. Else an audit counts where it fails what the votes passed (RLI B.5 is
    against false positives); one that would pass what they failed changes nothing, for that the adjudicator has to. Of
    several looks of a kind the latest that decided a subject counts.
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
