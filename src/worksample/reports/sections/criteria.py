"""Which criteria are missed, by whom, and what part of all misses each is (UpBench 5.5, Figure 8)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.results.answers import WHOLE
from worksample.results.result_set import ResultSet

from .config import MeasureConfig
from .section import Section, SectionRow

MOST = 50
"""Criteria with a line of their own, those first that are missed most."""


def sections(results: ResultSet, config: MeasureConfig, table: pl.DataFrame, hidden: bool) -> Iterator[Section]:
    """Of `answers`: by importance and, unless the suite is private, by criterion; agents across."""
    marks = table.filter(pl.col("item") != WHOLE).with_columns(missed=1 - pl.col("value"))
    if marks.is_empty():
        return
    agents = marks.select("who", "label").unique().sort("label", "who").rows()
    every = float(marks["missed"].sum())
    rows = [_line(config, "all criteria", marks, agents, every)]
    for part in marks.drop_nulls("importance").partition_by("importance", maintain_order=True):
        rows.append(_line(config, f"{part['importance'][0]} criteria", part, agents, every))
    if not hidden:
        order = marks.group_by("task", "item").agg(pl.col("missed").sum())
        order = order.sort("missed", "task", "item", descending=[True, False, False]).head(MOST)
        for task, item, _ in order.iter_rows():
            part = marks.filter((pl.col("task") == task) & (pl.col("item") == item))
            rows.append(_line(config, results.criterion_label(task, item), part, agents, every))
    columns = (*(label for _, label in agents), "of all misses")
    notes = (
        "the share of answers that say a criterion is missed; answers of several evaluators on a work average",
        f"of single criteria the {MOST} that are missed most; what was skipped is no answer",
    )
    yield Section("criteria", "Which criteria are missed", "UpBench 5.5, Figure 8", columns, tuple(rows), notes)


def _line(
    config: MeasureConfig, label: str, part: pl.DataFrame, agents: list[tuple[str, str]], every: float
) -> SectionRow:
    cells: list[m.Estimate | str] = []
    for who, _ in agents:
        own = part.filter(pl.col("who") == who)
        found = m.mean_score(own["missed"], task=own["task"], instance=own["subject"], name="missed", how=config.how)
        cells.append(found if own.height else "-")
    missed = float(part["missed"].sum())
    return SectionRow(label, None, (*cells, f"{100 * missed / every:.1f} %" if every else "-"))
