"""Notes for readers on how certain the cost of trials is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from worksample.dollar_text import in_dollars

from .figure_formatting import figure

if TYPE_CHECKING:
    import polars as pl


def cost_notes(tries: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for each reason why the cost of these trials is not settled."""
    import polars as pl

    asked = (pl.col("tokens").fill_null(0) > 0) | (pl.col("unsettled_calls").fill_null(0) > 0)
    unpriced = tries.filter(asked & ~pl.col("priced").fill_null(False) & pl.col("cost_at_most").is_null()).height
    if unpriced:
        yield f"{unpriced} trials made model calls without a known price: their cost is not counted as 0."
    cached = tries.filter(pl.col("cached_as_input").fill_null(0) > 0)
    if cached.height:
        read = cached["cache_read_tokens"].sum()
        yield (
            f"{cached.height} trials have cached tokens ({read:,} read) charged at the price of fresh ones, because no "
            "price for them was given: their cost is an upper bound (--price MODEL=IN,OUT,CACHE_READ,CACHE_WRITE)."
        )
    if estimated := tries.filter(pl.col("estimated_calls").fill_null(0) > 0).height:
        yield (
            f"{estimated} trials have tokens that are estimated from the text, because the model's service "
            "reported none: their cost is an estimate."
        )
    lost = tries.filter(pl.col("unsettled_calls").fill_null(0) > 0)
    if lost.height:
        more = (lost["cost_at_most"] - lost["cost"].fill_null(0.0)).fill_null(0.0).sum()
        known = (
            f"at most {in_dollars(float(more))}" if lost["cost_at_most"].is_not_null().all() else "an unknown amount"
        )
        yield (
            f"{lost.height} trials have {lost['unsettled_calls'].sum()} requests whose outcome is unknown, and that "
            f"may have cost {known} in addition."
        )


def cost_words(row: Mapping[str, Any]) -> str:
    """Describe how certain the cost of one trial is. Return "" if the cost is settled."""
    said = []
    if row.get("unsettled_calls") and row.get("cost_at_most") is not None:
        said.append(f"at most {figure(row['cost_at_most'], 'dollars')}: the outcome of some calls is unknown")
    elif row["cost"] is None:
        said.append("no price known")
    elif not row["priced"] and row.get("cost_at_most") is None:
        said.append("some calls had no price")
    if row.get("estimated_calls"):
        said.append("tokens are estimated")
    if row.get("cached_as_input"):
        said.append("an upper bound: cached tokens at the price of fresh ones")
    return "; ".join(said)


MARKS: dict[str, str] = {
    "cost_partly": "made calls without a price: a lower bound",
    "cost_beyond": "have requests whose outcome is unknown: a lower bound",
    "cost_estimated": "have estimated tokens",
    "cost_above": "have cached tokens at the price of fresh ones: an upper bound",
}
"""Reasons why the cost of trials is only a bound, by column name."""


def mark_columns() -> list[pl.Expr]:
    """Return a column of 0 and 1 for each of `MARKS`, over rows of trials."""
    import polars as pl

    unsettled = pl.col("cost").is_not_null() & ~pl.col("priced").fill_null(True)
    marked = (
        unsettled & pl.col("cost_at_most").is_null(),
        unsettled & (pl.col("unsettled_calls").fill_null(0) > 0),
        pl.col("estimated_calls").fill_null(0) > 0,
        pl.col("cached_as_input").fill_null(0) > 0,
    )
    return [expr.cast(pl.Int64).alias(name) for name, expr in zip(MARKS, marked, strict=True)]


def cost_marks(marked: pl.DataFrame) -> list[str]:
    """Return the notes for figures computed from these costs. The rows contain `mark_columns` or sums of these
    columns.
    """
    counts = {name: int(marked[name].sum() or 0) for name in MARKS}
    return [f"{counts[name]} trials {said}" for name, said in MARKS.items() if counts[name]]
