"""Several answers of one evaluator on one item: they are one opinion, however often it was written down.

A judge that is asked several times answers anew each time: those draws are numbered, and each of them counts once.
"""

from __future__ import annotations

import polars as pl

_ITEM = ("subject", "evaluator", "draw")


def once(votes: pl.DataFrame) -> pl.DataFrame:
    """The votes that count: of equal ones of an evaluator on a subject the first, of contradicting ones none, as if
    that evaluator had not voted. Striking all but one settles it.
    """
    contrary = pl.col("score").n_unique().over(_ITEM) > 1
    return votes.filter(~contrary).unique(_ITEM, keep="first", maintain_order=True)


def latest(grades: pl.DataFrame) -> pl.DataFrame:
    """The grades that count: of several of an evaluator on a subject the last, which is what it came to think."""
    return grades.unique(_ITEM, keep="last", maintain_order=True)
