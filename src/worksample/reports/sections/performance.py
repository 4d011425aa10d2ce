"""UpBench's Table 3 in its own layout: a line per agent, shares as decimals."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from worksample import metrics as m

from .config import MeasureConfig
from .rows import agent_groups
from .section import Section

COLUMNS = ("P1", "P Overall", "Abs Lift", "Relative Lift", "Rescue Rate")


def performance(config: MeasureConfig, chains: pl.DataFrame) -> Section:
    """chains: the attempts of each chain together. To three decimals, without percent signs, as the paper prints it."""
    rows = []
    for group in agent_groups(chains):
        jobs = first_and_last(group.rows)
        found = m.success_lifts(jobs["p1"], jobs["p2"], task=jobs["task"], how=config.how)
        rows.append(group.line(*(replace(e, unit=m.Unit.NUMBER) for e in found.all())))
    notes = ("the figures of lifts, as the paper prints them",)
    return Section("performance", "Performance summary by agent", "UpBench Table 3", COLUMNS, tuple(rows), notes)


def first_and_last(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per job and repeat: the first attempt (`p1`, `s1`: passed and score), and the last one where there was
    another (`p2`, `s2`).
    """
    keys = ["key", "task", "repeat"]
    graded = rows.filter(pl.col("passed").is_not_null() | (pl.col("attempt") == 1)).sort("attempt")
    one = graded.filter(pl.col("attempt") == 1).select(*keys, p1="passed", s1="score")
    two = graded.filter(pl.col("attempt") > 1).unique(keys, keep="last").select(*keys, p2="passed", s2="score")
    chains = one.join(two, on=keys, how="left", maintain_order="left")
    judged = pl.col("p1").is_not_null()
    return chains.with_columns(pl.when(judged).then("p2").alias("p2"), pl.when(judged).then("s2").alias("s2"))
