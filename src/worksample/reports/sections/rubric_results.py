"""Rubrics and re-attempts: completion, rubric score, lifts, pass rates within k attempts, and UpBench's Table 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from worksample import metrics as m
from worksample.records import Protocol
from worksample.reports.sections.figure_settings import MeasureConfig
from worksample.reports.sections.judge_consistency import consistency_notes
from worksample.reports.sections.result_rows import agent_groups, attempts_of, groups, unseen_notes
from worksample.reports.sections.section import Section
from worksample.results.result_set import ResultSet, state_of

MOST_K = 5


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield completion under rubric rounds, and lifts and passes from them, else from the experiments' own protocol."""
    frame = results.judged_frame(Protocol.RUBRIC)
    if frame is not None:
        yield _rubric(results, config, attempts_of(frame, able=False))
    else:
        frame = results.judged_frame(results.primary)
        if frame is None:
            return
    frame = attempts_of(frame, None)
    if (frame["attempt"].max() or 1) != 1:
        together = results.chains(frame)
        yield _lifts(results, config, together)
        yield performance(config, together)
        yield _within(config, together)
    yield from _at_k(results, config, frame.filter(pl.col("attempt") == 1))


def _rubric(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Section:
    rows = []
    for group in groups(results, config, frame):
        r = group.rows.with_columns(a=state_of("passed"), b=state_of("score"))
        cells: dict[str, Any] = {"task": r["task"], "instance": r["instance_name"], "how": config.how}
        rows.append(
            group.line(
                m.rate(r["passed"], state=r["a"], failed=r["broken"], name="completion", **cells),
                m.mean_score(r["score"], state=r["b"], name="rubric score", **cells),
            )
        )
    notes = (
        "completed: every critical and important criterion passed; first attempts",
        *config.rules.says(),
        *unseen_notes(frame),
        *consistency_notes(results, config, Protocol.RUBRIC),
        *config.overlap_notes,
    )
    columns = config.table_columns("completion", "rubric score")
    return Section("rubric", "Completion and rubric score", "UpBench 5.2.1", columns, tuple(rows), notes)


def _lifts(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Section:
    rows = []
    for group in groups(results, config, frame):
        jobs = first_and_last(group.rows)
        success = m.success_lifts(jobs["p1"], jobs["p2"], task=jobs["task"], how=config.how)
        rubric = m.rubric_lifts(jobs["s1"], jobs["s2"], task=jobs["task"], how=config.how)
        rows.append(group.line(*success.all(), *rubric.all()))
    columns = (
        *("p1", "p overall", "absolute lift", "relative lift", "rescue rate"),
        *("score, first", "score, overall", "absolute score lift", "relative score lift"),
    )
    notes = ("the last attempt counts as the re-attempt; all figures are computed from counts", *config.overlap_notes)
    return Section(
        "lifts",
        "What re-attempts with feedback add",
        "UpBench 5.2.1, C",
        config.table_columns(*columns),
        tuple(rows),
        notes,
    )


def _within(config: MeasureConfig, frame: pl.DataFrame) -> Section:
    most = int(str(frame["attempt"].max()))
    rows = []
    for group in agent_groups(frame):
        jobs = group.rows["key"] + "#" + group.rows["repeat"].cast(pl.String)
        told = m.histories(jobs, group.rows["attempt"], group.rows["passed"], group.rows["task"])
        steps = {a.k: a for a in m.passed_within(told, config.how)}
        fit = m.fit_ceiling(told, how=config.how)
        cells = [
            cell
            for k in range(1, most + 1)
            for cell in ((steps[k].hazard, steps[k].observed, steps[k].within) if k in steps else ("-", "-", "-"))
        ]
        rows.append(group.line(*cells, fit.ceiling))
    columns = tuple(f"{what} {k}" for k in range(1, most + 1) for what in ("hazard of", "passed by", "within"))
    return Section("within-k", "Passed within k attempts", "UpBench 5.3, D", (*columns, "ceiling"), tuple(rows))


def _at_k(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Iterator[Section]:
    """Yield pass@k over independent repeats."""
    many = int(str(frame["repeat"].max() or 1)) if frame.height else 1
    if many < 2:
        return
    most = min(many, MOST_K)
    rows = []
    for group in groups(results, config, frame):
        jobs = group.rows.group_by("key", "task", maintain_order=True).agg(
            pl.col("passed").is_not_null().sum().cast(pl.Int64).alias("n"),
            pl.col("passed").fill_null(False).sum().cast(pl.Int64).alias("c"),
        )
        rows.append(
            group.line(
                *(m.pass_at_k(jobs["n"], jobs["c"], k, task=jobs["task"], how=config.how) for k in range(1, most + 1))
            )
        )
    columns = config.table_columns(*(f"pass@{k}" for k in range(1, most + 1)))
    notes = ("over independent repeats; instances are averaged into their task", *config.overlap_notes)
    yield Section("pass-at-k", "pass@k", "UpBench D.1", columns, tuple(rows), notes)


COLUMNS = ("P1", "P Overall", "Abs Lift", "Relative Lift", "Rescue Rate")


def performance(config: MeasureConfig, chains: pl.DataFrame) -> Section:
    """Return UpBench's Table 3 in its own layout: to three decimals, without percent signs. chains: the attempts of
    each chain.
    """
    rows = []
    for group in agent_groups(chains):
        jobs = first_and_last(group.rows)
        found = m.success_lifts(jobs["p1"], jobs["p2"], task=jobs["task"], how=config.how)
        rows.append(group.line(*(replace(e, unit=m.Unit.NUMBER) for e in found.all())))
    notes = ("the figures of lifts, as the paper prints them",)
    return Section("performance", "Performance summary by agent", "UpBench Table 3", COLUMNS, tuple(rows), notes)


def first_and_last(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per job and repeat: the first attempt (`p1`, `s1`: passed and score), and the last one if there
    was another (`p2`, `s2`).
    """
    keys = ["key", "task", "repeat"]
    graded = rows.filter(pl.col("passed").is_not_null() | (pl.col("attempt") == 1)).sort("attempt")
    one = graded.filter(pl.col("attempt") == 1).select(*keys, p1="passed", s1="score")
    two = graded.filter(pl.col("attempt") > 1).unique(keys, keep="last").select(*keys, p2="passed", s2="score")
    chains = one.join(two, on=keys, how="left", maintain_order="left")
    judged = pl.col("p1").is_not_null()
    return chains.with_columns(pl.when(judged).then("p2").alias("p2"), pl.when(judged).then("s2").alias("s2"))
