"""Robustness of pass rates: a part of the work compared with the whole (ALE D.1), and figures with and without struck
work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from worksample import metrics as m
from worksample.records import AmendmentTarget, Protocol
from worksample.reports.sections.figure_settings import MeasureConfig
from worksample.reports.sections.result_rows import agent_groups, attempts_of
from worksample.reports.sections.section import Section
from worksample.results.result_set import NONE, ResultSet, state_of
from worksample.results.subset import Subset

FEWEST = 4
"""Minimum number of groups of work for a correlation with an interval."""


def representativeness_sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield a section only if the figures cover a part of the work, such as the tag `public`: that part against
    everything planned.
    """
    if not config.where:
        return
    frame = results.judged_frame(results.primary)
    whole = ResultSet(results.store, results.experiments, replace(config.work_rules, where=Subset()))
    every = whole.judged_frame(whole.primary)
    if frame is None or every is None or frame["instance"].n_unique() == every["instance"].n_unique():
        return
    rows = []
    by = "category" if _groups(whole, every, "category") >= FEWEST else "domain"
    if _groups(whole, every, by) < FEWEST:
        return
    pool = {group.rows["who"][0]: _rates(whole, group.rows, by) for group in agent_groups(attempts_of(every))}
    for group in agent_groups(attempts_of(frame)):
        part = _rates(results, group.rows, by)
        both = pool[group.rows["who"][0]].join(part, on="group", how="left", suffix="_part", maintain_order="left")
        found = m.representativeness(both["rate_part"], both["rate"], config.how.level)
        apart = both.filter(pl.col("rate_part").is_not_null()).with_columns(gap=pl.col("rate_part") - pl.col("rate"))
        chance = m.pearson_p(both["rate_part"], both["rate"])
        rows.append(group.line(found, chance, _farthest(apart), str(apart.height), str(both.height)))
    columns = ("r of the pass rates", "p of r", "farthest apart", "in the part", "in all")
    notes = (
        f"by {by}: the pass rate in {config.where} against that of everything planned, including the part",
        "a high r means that the part ranks the work in the same order, not that it is equally hard",
    )
    title = "Does the part represent the whole"
    yield Section("representativeness", title, "ALE D.1, Figure 11", columns, tuple(rows), notes)


def _groups(results: ResultSet, frame: pl.DataFrame, by: str) -> int:
    return results.with_group(frame, by).filter(pl.col("group") != NONE)["group"].n_unique()


def _rates(results: ResultSet, rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the pass rate by group: repeats are averaged into instances, instances into tasks; null if nothing is
    graded.
    """
    table = results.with_group(rows, by).filter(pl.col("group") != NONE)
    for level in (["group", "task", "key"], ["group", "task"], ["group"]):
        value = pl.col("rate") if "rate" in table.columns else pl.col("passed").cast(pl.Float64)
        table = table.group_by(level, maintain_order=True).agg(rate=value.mean())
    return table.sort("group")


def _farthest(apart: pl.DataFrame) -> str:
    """Return the group whose pass rate in the part differs most from its pass rate in the whole."""
    if apart.is_empty():
        return "-"
    name, part, whole, _ = apart.sort(pl.col("gap").abs(), descending=True).select(
        "group", "rate_part", "rate", "gap"
    ).row(0)  # fmt: skip
    return f"{name}: {100 * part:.1f} % of {100 * whole:.1f} %"


def integrity_sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield every agent's pass rate with and without struck work, if a trial or submission of the experiments is
    struck.
    """
    if not any(a.target in (AmendmentTarget.TRIAL, AmendmentTarget.SUBMISSION) for a in results.every_amendment):
        return
    everything = ResultSet(results.store, results.experiments, replace(config.work_rules, struck=False))
    if not everything.slots["struck"].any():
        return
    for protocol in (Protocol.HOLISTIC, results.primary):
        frame = everything.judged_frame(protocol)
        if frame is None:
            continue
        rows = []
        for group in agent_groups(attempts_of(frame)):
            r = group.rows.with_columns(state=state_of("passed"))
            columns = {"passed": r["passed"], "state": r["state"], "task": r["task"], "instance": r["instance_name"]}
            found = m.with_and_without(m.rate, r["struck"], columns, name="pass", how=config.how)
            rows.append(group.line(found.with_all, found.without, str(found.struck)))
        notes = ("a struck trial whose slot was run again is not counted: its new trial is",)
        heads = ("pass, with all", "pass, without", "struck")
        yield Section(
            "integrity", f"With and without struck work ({protocol})", "integrity review", heads, tuple(rows), notes
        )
        return
