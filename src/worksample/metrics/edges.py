"""Comparisons gathered once into sums per (project, pair): all that rating, bootstrap and sandwich ever read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError

from .columns import Column, Floats, Ints, codes, floats, pair_codes, same_length
from .preferences import canonical_pairs


@dataclass(frozen=True, slots=True)
class PairSums:
    """Cell c: in project `project[c]`, pair `pair[c]` was compared `count[c]` times, and `won[c]` is the sum of the
    preferences for the pair's first agent. Pair k is (agents[first[k]], agents[second[k]]).
    """

    agents: tuple[str, ...]
    first: Ints
    second: Ints
    projects: int
    project: Ints
    pair: Ints
    won: Floats
    count: Floats
    left_out: int = 0
    """Comparisons without a decided preference."""

    @property
    def pairs(self) -> int:
        return len(self.first)

    @property
    def comparisons(self) -> int:
        return int(self.count.sum())

    def weighted(self, *, by_count: bool) -> tuple[Floats, Floats]:
        """(won, weight) per cell: with `by_count` every comparison weighs 1, else every project of a pair does."""
        return (self.won, self.count) if by_count else (self.won / self.count, np.ones_like(self.count))

    def totals(self, *, by_count: bool) -> tuple[Floats, Floats]:
        """(preference for the first agent, weight) per pair over all projects."""
        won, weight = self.weighted(by_count=by_count)
        total = np.bincount(self.pair, weights=weight, minlength=self.pairs).astype(np.float64)
        return np.bincount(self.pair, weights=won, minlength=self.pairs) / total, total

    def edges(self) -> pl.DataFrame:
        """The preference graph: first, second, projects, comparisons, preference (for the first; projects average)."""
        names = pl.Series(self.agents, dtype=pl.String)
        preference, projects = self.totals(by_count=False)
        return pl.DataFrame(
            {
                "first": names.gather(self.first),
                "second": names.gather(self.second),
                "projects": projects.astype(np.int64),
                "comparisons": np.bincount(self.pair, weights=self.count, minlength=self.pairs).astype(np.int64),
                "preference": preference,
            }
        )


def pair_sums(project: Column, first: Column, second: Column, preference: Column) -> PairSums:
    """Gather comparisons, one row each. `preference` in 0..1 for the row's first agent; null (undecided) is left out
    and counted. The order of a pair and of the rows never matters.
    """
    same_length(project=project, first=first, second=second, preference=preference)
    toward, present = floats("preference", preference, low=0.0, high=1.0)
    agents, one, two, flipped = canonical_pairs(first, second)
    projects = codes("project", project)
    if not present.all():
        toward, one, two, flipped = toward[present], one[present], two[present], flipped[present]
    inside = projects.index[present] if not present.all() else projects.index
    size = len(agents)
    pair, pairs = pair_codes(one, two, (size, size))
    cell, cells = pair_codes(inside, pair, (projects.size, len(pairs)))
    width = max(len(pairs), 1)
    return PairSums(
        agents=tuple(agents),
        first=pairs // max(size, 1),
        second=pairs % max(size, 1),
        projects=projects.size,
        project=cells // width,
        pair=cells % width,
        won=np.bincount(cell, weights=np.where(flipped, 1 - toward, toward), minlength=len(cells)).astype(np.float64),
        count=np.bincount(cell, minlength=len(cells)).astype(np.float64),
        left_out=int((~present).sum()),
    )


def compare_tables(*tables: pl.DataFrame) -> PairSums:
    """Gather several tables with the columns project, first, second and preference, such as those of
    `project_preferences` and `human_comparisons`.
    """
    wanted = ["project", "first", "second", "preference"]
    for table in tables:
        if missing := sorted(set(wanted) - set(table.columns)):
            raise UsageError(
                f"no column {missing[0]!r}", where="a table of comparisons", next=f"give {', '.join(wanted)}"
            )
    kinds = {table.schema["project"] for table in tables}
    project = pl.col("project") if len(kinds) == 1 else pl.col("project").cast(pl.String)
    names = (pl.col("first").cast(pl.String), pl.col("second").cast(pl.String))
    parts = [table.select(project, *names, pl.col("preference").cast(pl.Float64)) for table in tables]
    blank = pl.DataFrame(schema={**dict.fromkeys(wanted, pl.String), "preference": pl.Float64})
    joined = pl.concat(parts) if parts else blank
    return pair_sums(joined["project"], joined["first"], joined["second"], joined["preference"])
