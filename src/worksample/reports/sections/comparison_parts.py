"""The paired difference of two agents by part of the work: category, tier, platform, domain or cohort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from worksample import metrics as m
from worksample.metrics import Estimate, Resampling
from worksample.results.result_set import NONE, state_of


@dataclass(frozen=True, slots=True)
class Part:
    """The difference between two agents (second minus first) on one part of the work.

    `holm` is the p value of the difference in full passes, corrected for testing all parts. It is None if the part has
    only one task.
    """

    group: str
    score: Estimate
    passed: Estimate
    holm: float | None

    def plain(self) -> dict[str, Any]:
        """Return the part as JSON types."""
        figures = {"score": self.score.as_dict(), "passed": self.passed.as_dict()}
        return {"group": self.group, **figures, "holm": self.holm}


def trials_of(rows: pl.DataFrame, column: str) -> m.TrialColumns:
    """Return the trials of one of the two agents. Their score is the column `score` or `passed`."""
    rows = rows.with_columns(pl.col(column).cast(pl.Float64), state=state_of(column))
    return m.TrialColumns(rows[column], rows["task"], rows["instance_name"], rows["state"])


def parts_of(one: pl.DataFrame, two: pl.DataFrame, how: Resampling) -> tuple[Part, ...]:
    """Compare both agents on each `group` of their rows. Rows without a group are left out."""
    names = sorted({*one["group"].to_list(), *two["group"].to_list()} - {NONE})
    sides = [[rows.filter(pl.col("group") == name) for rows in (one, two)] for name in names]

    def compare_each(column: str, name: str) -> list[m.PairedComparison]:
        return [m.paired_difference(*(trials_of(rows, column) for rows in both), name=name, how=how) for both in sides]

    scores, passes = compare_each("score", "score"), compare_each("passed", "full pass")
    known = [found.p for found in passes if found.p is not None]
    corrected = iter(m.holm(known))
    return tuple(
        Part(name, score.difference, full.difference, None if full.p is None else next(corrected))
        for name, score, full in zip(names, scores, passes, strict=True)
    )
