"""Rows of a result set's frame as sections use them: which count, in which groups, and at which price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from worksample.metrics import Estimate
from worksample.metrics.columns import MONEY_CEILING
from worksample.results.result_set import ResultSet
from worksample.results.slots import NOT_ATTEMPTABLE

from .config import MeasureConfig
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
        """The line, with the group's name first where there is one."""
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


def attempted(frame: pl.DataFrame, attempt: int | None = 1, *, able: bool = True) -> pl.DataFrame:
    """The rows of one attempt of their chains; `able`: those that could be attempted. Rates count no others, and their
    bounds do.
    """
    if able:
        frame = frame.filter(pl.col("state") != NOT_ATTEMPTABLE)
    return frame if attempt is None else frame.filter(pl.col("attempt") == attempt)


def unseen_notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """How many of these are ungraded since whoever judged could not see enough of them, by cause."""
    lost = frame.filter("unseen")
    causes = lost["verdict_cause"].value_counts().sort("verdict_cause").iter_rows()
    told = ", ".join(f"{cause}: {count}" for cause, count in causes)
    return (f"{lost.height} of {frame.height} are ungraded since who judged could not see all of it ({told})",) * bool(
        told
    )


def task_of(key: str) -> str:
    """The task in `task/name`."""
    return key.rpartition("/")[0]


def usable_value(frame: pl.DataFrame) -> pl.Series:
    """The human's price in US dollars; null where it is unknown or in another currency."""
    return frame.select(pl.when(pl.col("value_currency") == "USD").then("value_middle").alias("price")).to_series()


def believable(column: str) -> pl.Expr:
    """US dollars within `MONEY_CEILING`, else null: one absurd row must not take a whole section with it."""
    return pl.when(pl.col(column).is_between(0, MONEY_CEILING)).then(pl.col(column).cast(pl.Float64)).alias(column)


def is_illustrative(frame: pl.DataFrame, column: str = "value_source") -> pl.Series:
    return (frame[column] == ILLUSTRATIVE).fill_null(False).alias("illustrative")
