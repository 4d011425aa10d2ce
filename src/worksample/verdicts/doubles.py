"""Several votes of one evaluator on one item: they are one person's opinion, however often it was written down."""

from __future__ import annotations

import polars as pl

_ITEM = ("subject", "evaluator")


def once(votes: pl.DataFrame) -> pl.DataFrame:
    """The votes that count: of equal ones of an evaluator on a subject the first, of contradicting ones none, as if
    that evaluator had not voted. Striking all but one settles it.
    """
    contrary = pl.col("score").n_unique().over(_ITEM) > 1
    return votes.filter(~contrary).unique(_ITEM, keep="first", maintain_order=True)
