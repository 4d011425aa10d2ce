"""Rows of a result set's frame as sections use them: filters, groups of agents, and prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from worksample.metrics import Estimate
from worksample.metrics.column_checks import MONEY_CEILING
from worksample.results.result_set import ResultSet
from worksample.results.slot_results import NOT_ATTEMPTABLE

from .figure_settings import MeasureConfig
from .section import SectionRow

ILLUSTRATIVE = "illustrative"


@dataclass(frozen=True)
class Group:
    """The rows behind one line of a table."""

    label: str
    agent: str
    by: str
    rows: pl.DataFrame

    def line(self, *cells: Estimate | str) -> SectionRow:
        """Return the table line, with the group's name first if there is one."""
        return SectionRow(self.label, self.agent, (*((self.by,) if self.by else ()), *cells))


def agent_groups(frame: pl.DataFrame) -> Iterator[Group]:
    """Yield one group per agent (and arm), by label."""
    for rows in frame.sort("label", "who", maintain_order=True).partition_by("who", maintain_order=True):
        yield Group(rows["label"][0], rows["agent"][0], "", rows)


def groups(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Iterator[Group]:
    """Yield one group per agent, or per agent and value of `config.by`."""
    if config.by in ("", "agent"):
        yield from agent_groups(frame)
        return
    table = results.with_group(frame, config.by).sort("group", "label", maintain_order=True)
    for rows in table.partition_by(["group", "who"], maintain_order=True):
        yield Group(rows["label"][0], rows["agent"][0], rows["group"][0], rows)


def attempts_of(frame: pl.DataFrame, attempt: int | None = 1, *, able: bool = True) -> pl.DataFrame:
    """Return the rows of one attempt of each chain, or of all attempts if `attempt` is None.

    With `able`, only rows that can be attempted are returned. Rates count only these rows; bounds count all rows.
    """
    if able:
        frame = frame.filter(pl.col("state") != NOT_ATTEMPTABLE)
    return frame if attempt is None else frame.filter(pl.col("attempt") == attempt)


def unseen_notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return a note on how many rows are ungraded because the evaluator could not see enough of the work, by cause."""
    lost = frame.filter("unseen")
    causes = lost["verdict_cause"].value_counts().sort("verdict_cause").iter_rows()
    told = ", ".join(f"{cause}: {count}" for cause, count in causes)
    return (
        f"{lost.height} of {frame.height} are ungraded because the evaluator could not see all of the work ({told})",
    ) * bool(told)


def task_of(key: str) -> str:
    """Return the task of a key `task/name`."""
    return key.rpartition("/")[0]


def usable_value(frame: pl.DataFrame) -> pl.Series:
    """Return the human's price in US dollars; null if it is unknown or in another currency."""
    return frame.select(pl.when(pl.col("value_currency") == "USD").then("value_middle").alias("price")).to_series()


def within_ceiling(column: str) -> pl.Expr:
    """Return an expression for amounts in US dollars within `MONEY_CEILING`, else null. A single absurd amount then
    does not spoil a whole section.
    """
    return pl.when(pl.col(column).is_between(0, MONEY_CEILING)).then(pl.col(column).cast(pl.Float64)).alias(column)


def is_illustrative(frame: pl.DataFrame, column: str = "value_source") -> pl.Series:
    return (frame[column] == ILLUSTRATIVE).fill_null(False).alias("illustrative")
