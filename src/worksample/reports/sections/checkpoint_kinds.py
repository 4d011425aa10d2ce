"""Points earned by kind of checkpoint: action, accuracy, collaboration (TAC 4)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import CheckpointKind
from worksample.results.criteria_in_force import BY_CRITERIA
from worksample.results.result_set import UNGRADED, VALID, ResultSet

from .figure_settings import MeasureConfig
from .result_rows import Group, attempts_of, groups
from .section import Section, SectionRow


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield a section for each protocol whose criteria name kinds of checkpoints."""
    for protocol in (p for p in BY_CRITERIA if p in results.judgments.deciding):
        points = results.points_by_kind(protocol)
        kinds = [kind.value for kind in CheckpointKind if points["kind"].eq(kind.value).any()]
        if not kinds:
            continue
        suffix = "" if protocol is results.primary else f"-{protocol}"
        first = attempts_of(results.frame(protocol))
        wide = first.join(_across(points, kinds), on="submission", how="left", maintain_order="left")
        columns = config.table_columns(*(name for kind in kinds for name in (kind, f"{kind} points")))
        rows = tuple(_line(results, config, group, kinds) for group in groups(results, config, wide))
        notes = (
            "the share of the points of its kind that a trial earned; the mean over tasks that have such checkpoints",
            "points: earned / possible, over all graded trials",
            *config.overlap_notes,
        )
        yield Section(f"kinds{suffix}", "Points by kind of checkpoint", "TAC 4", columns, rows, notes)


def _across(points: pl.DataFrame, kinds: list[str]) -> pl.DataFrame:
    """Return a row per submission with the earned and the possible points of each kind of checkpoint. They are null if
    the submission has no checkpoint of the kind.
    """
    table = points.select("submission").unique(maintain_order=True)
    for kind in kinds:
        own = points.filter(pl.col("kind") == kind)
        own = own.select("submission", pl.col("earned").alias(kind), pl.col("points").alias(f"{kind} points"))
        table = table.join(own, on="submission", how="left", maintain_order="left")
    return table


def _line(results: ResultSet, config: MeasureConfig, group: Group, kinds: list[str]) -> SectionRow:
    asked = {
        id: {leaf.kind.value for grading in i.grading.values() for leaf in grading.criteria.leaves if leaf.kind}
        for id, i in results.instances.items()
    }
    cells: list[m.Estimate | str] = []
    for kind in kinds:
        having = [id for id, found in asked.items() if kind in found]
        rows = group.rows.filter(pl.col("instance").is_in(having))
        share = pl.col(kind) / pl.col(f"{kind} points")
        # The verdict has no criteria of this kind: they did not apply, or a later grading has none.
        state = pl.when((pl.col("state") == VALID) & share.is_null()).then(pl.lit(UNGRADED)).otherwise("state")
        rows = rows.with_columns(share=pl.when(pl.col("state") == VALID).then(share), state=state)
        cells.append(
            m.mean_score(
                rows["share"], state=rows["state"], task=rows["task"], instance=rows["instance_name"], name=kind,
                how=config.how,
            )
        )  # fmt: skip
        graded = rows.filter(pl.col("share").is_not_null())
        cells.append(f"{graded[kind].sum():g} / {graded[f'{kind} points'].sum():g}")
    return group.line(*cells)
