"""People who did the same jobs as agents, alone or together with an agent: the best approach by job value, from
measured success.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import Worker
from worksample.reports.cost_notes import cost_marks, mark_columns
from worksample.results.attempt_chains import continued_arms
from worksample.results.result_set import ResultSet

from .attempt_chain_rows import ChainJobs
from .figure_settings import MeasureConfig
from .result_rows import attempts_of, usable_value
from .section import Section
from .value_regions import (
    ALONE,
    HUMAN,
    WITH_FEEDBACK,
    WITHOUT_PRICE,
    RegionTable,
    feedback_has_price,
    regions_table,
    values_of,
)

TOGETHER = "person with AI"
BY_PEOPLE = pl.Schema(
    {
        "person": pl.Boolean(), "person_cost": pl.Float64(), "together": pl.Boolean(), "together_cost": pl.Float64()
    }
)  # fmt: skip
"""Columns that `beside_people` adds. They are null if nobody worked in that way, or if the figure is unknown."""


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield a section for experiments with arms in which people work."""
    frame = results.judged_frame(results.primary)
    if frame is None or not _arms_of_people(results):
        return
    rows = beside_people(results, attempts_of(frame), _by_agents(results, config, frame))
    if not (rows["person"].is_not_null() | rows["together"].is_not_null()).any():
        return
    notes = (
        "people as measured, on the jobs that were done in every way: success by the same verdicts, cost by "
        "hours at their pay",
        "probabilities over simulated worlds that fit the same jobs; nothing: not doing the job",
        *(f"costs: {said}" for said in cost_marks(attempts_of(frame, None).select(mark_columns()))),
    )
    title = "The best approach by job value, with people as measured"
    told = RegionTable("people-regions", title, "UpBench 5.4.1", notes)
    yield regions_table(config, told, [("", rows)], (values_of(rows["price"]), _choice))


def beside_people(results: ResultSet, first: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return `rows` of agents (with `agent`, `instance`) joined with people's results on the same jobs: each row once
    per time that somebody did the job.

    `first`: first attempts of all arms.
    """
    arms = _arms_of_people(results)
    for worker, name in ((Worker.HUMAN, "person"), (Worker.ASSISTED, "together")):
        keys = ["instance"] if worker is Worker.HUMAN else ["agent", "instance"]
        mine = pl.struct("experiment", "arm").is_in(
            [{"experiment": e, "arm": arm} for (e, arm), kind in arms.items() if kind is worker]
        )
        done = first.filter(mine & pl.col("passed").is_not_null()) if arms else first.clear()
        done = done.select(*keys, pl.col("passed").alias(name), pl.col("cost").cast(pl.Float64).alias(f"{name}_cost"))
        rows = rows.join(done, on=keys, how="left", maintain_order="left")
    return rows


def _arms_of_people(results: ResultSet) -> dict[tuple[str, str], Worker]:
    arms = {(e.id, arm.name): arm.worker for e in results.experiments for arm in e.arms}
    return {key: worker for key, worker in arms.items() if worker is not Worker.AGENT}


def _by_agents(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a row per job and repeat of each agent: alone in each arm, and in each arm with feedback."""
    feedback = {arm.name: arm.feedback for e in results.experiments for arm in e.arms if arm.continues is not None}
    chains = ChainJobs(results, config, attempts_of(frame, None), feedback).jobs if feedback else None
    begun = set(continued_arms(results.experiments).values())
    people = {arm for _, arm in _arms_of_people(results)}
    alone = attempts_of(frame).filter(
        pl.col("slot").is_not_null() & ~pl.col("arm").is_in(sorted(people | begun | set(feedback)))
    )
    names = ("who", "label", "agent", "task", "instance")
    parts = [
        alone.select(
            *names, usable_value(alone), first="passed", once=pl.col("cost").cast(pl.Float64),
            passed=pl.lit(None, pl.Boolean), spent=pl.lit(None, pl.Float64), told=pl.lit(True),
        )
    ]  # fmt: skip
    if chains is not None and chains.height:
        spent = (pl.col("cost") + pl.col("led")).cast(pl.Float64)
        sure = chains.with_columns(told=feedback_has_price().over("who"))
        parts.append(
            sure.select(*names, "price", "first", pl.col("once").cast(pl.Float64), "passed", spent=spent, told="told")
        )
    return pl.concat(parts, how="vertical_relaxed")


def _choice(jobs: pl.DataFrame, how: m.Resampling) -> m.Choice | str:
    """Return the choice for one agent in one arm."""
    if not jobs["told"].all():
        return WITHOUT_PRICE
    ways = {ALONE: m.Outcomes(jobs["first"], jobs["once"])}
    for name, passed, cost in (
        (WITH_FEEDBACK, "passed", "spent"),
        (TOGETHER, "together", "together_cost"),
        (HUMAN, "person", "person_cost"),
    ):
        if jobs[passed].is_not_null().any():
            ways[name] = m.Outcomes(jobs[passed], jobs[cost])
    return m.choose_from_jobs(ways, task=jobs["task"], nothing=True, how=how)
