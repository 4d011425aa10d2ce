"""Chains of attempts as rows of a table: the first verdict, the last verdict, and the total cost."""

from __future__ import annotations

from functools import cached_property

import polars as pl

from worksample.people.access.evaluator_profile import profile_of
from worksample.records import Evaluator, EvaluatorKind, Feedback
from worksample.reports.cost_notes import MARKS, mark_columns
from worksample.results.attempt_chains import JOB
from worksample.results.result_set import ResultSet
from worksample.store.dataframes import evaluations_df

from .figure_settings import MeasureConfig, hourly_rate
from .result_rows import is_illustrative, usable_value, within_ceiling

_PERSON, _JUDGE = (kind.value for kind in (EvaluatorKind.PERSON, EvaluatorKind.JUDGE))


class ChainJobs:
    """A table with one row per chain of attempts: its first verdict, its last verdict, and its total cost."""

    def __init__(
        self, results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, arms: dict[str, Feedback]
    ) -> None:
        self.results, self.config, self.arms = results, config, arms
        self.rows = results.chains(frame).filter(pl.col("arm").is_in(list(arms)))

    @cached_property
    def jobs(self) -> pl.DataFrame:
        rows = self.rows.with_columns(usable_value(self.rows), is_illustrative(self.rows))
        rows = rows.with_columns(within_ceiling("price")).join(
            cost_of_grading(self.results, self.config), on="submission", how="left"
        )
        rows = rows.with_columns(mark_columns())
        spent = ("minutes", "people", "judges")
        silent = pl.col("judged").is_null()
        rows = rows.with_columns(pl.when(silent).then(0.0).otherwise(name).alias(name) for name in spent)
        last = pl.col("attempt") == pl.col("attempt").max().over(*JOB, "arm")
        rows = rows.with_columns(led=pl.when(last).then(0.0).otherwise(pl.col("judges") + pl.col("people")))
        whole = (
            pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()).alias(name)
            for name in (*spent, "cost", "led")
        )
        end = pl.max_horizontal("ended", "judged").max() - pl.col("started").min()
        about = ("who", "label", "agent_name", "arm", "agent", "task", "instance", "instance_name", "key", "repeat")
        keys = dict.fromkeys((*about, *JOB, "category", "tier"))
        return rows.sort("attempt").group_by(*keys, maintain_order=True).agg(
            pl.col("passed").first().alias("first"),
            pl.col("passed").last(),
            pl.col("state").last(),
            pl.len().alias("attempts"),
            pl.col("price", "illustrative").first(),
            pl.col("cost").first().alias("once"),
            *whole,
            pl.col(*MARKS).sum(),
            (end.dt.total_microseconds() / 3.6e9).alias("hours"),
        )  # fmt: skip


def cost_of_grading(results: ResultSet, config: MeasureConfig) -> pl.DataFrame:
    """Return the cost of grading each submission: the minutes and the pay of people, the US dollars of judges, and the
    time of the latest evaluation.

    A figure is null if one of the evaluations does not state it.
    """
    said = pl.concat([evaluations_df(results.store, e.id) for e in results.experiments])
    hourly = hourly_rate(results, config)
    rate = pl.col("evaluator").replace_strict(_rates(results), default=hourly, return_dtype=pl.Float64)
    # Zero minutes cost nothing, even without a pay rate.
    paid = pl.when(pl.col("minutes") == 0).then(0.0).otherwise(pl.col("minutes") / 60 * rate)
    said = said.with_columns(paid=paid)
    person, judge = pl.col("evaluator_type") == _PERSON, pl.col("evaluator_type") == _JUDGE
    return said.group_by("submission").agg(
        _sum_if_known("minutes", person).alias("minutes"),
        _sum_if_known("paid", person).alias("people"),
        _sum_if_known("cost", judge).alias("judges"),
        pl.col("at").max().alias("judged"),
    )


def _rates(results: ResultSet) -> dict[str, float]:
    """Return US dollars per hour by evaluator, from the profile under which they judged."""
    people = (e for e in results.store.find(Evaluator) if e.type is EvaluatorKind.PERSON)
    return {e.id: rate for e in people if (rate := profile_of(e).pay_rate) is not None}


def _sum_if_known(column: str, who: pl.Expr) -> pl.Expr:
    """Return the sum of a column over the rows for which `who` is true. The sum is null if the column is null in one of
    them.
    """
    of = pl.col(column).filter(who)
    return pl.when(of.is_null().any()).then(None).otherwise(of.sum())
