"""Sums of comparisons for each project and pair of agents. They are computed once and used for ratings, bootstrap and
sandwich estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    count_flags,
    floats,
    pair_codes,
    same_length,
)

from .preferences import canonical_sides

_TRACE = 1e-3
"""Distance from 0 or 1 below which a corrected mean preference counts as 0 or 1."""


@dataclass(frozen=True)
class PairSums:
    """Sums of comparisons by cell. A cell is a pair of agents in a project.

    In cell c, which belongs to project `project[c]`, the pair `pair[c]` was compared `count[c]` times, and `won[c]` is
    the sum of the preferences for the pair's first agent. Pair k is (agents[first[k]], agents[second[k]]). If all pairs
    were compared in all projects (`full`), the cells are in order of project and then pair, and `cells` is None.
    """

    agents: tuple[str, ...]
    first: Ints
    second: Ints
    projects: int
    cells: tuple[Ints, Ints] | None
    """Project and pair of each cell. None if all pairs were compared in all projects."""
    won: Floats
    count: Floats
    left_out: int = 0
    """Number of comparisons without a decided preference."""
    undecided: Mapping[str, int] = field(default_factory=dict)
    """Number of comparisons without a decided preference, for each agent that has any."""
    bounded: bool = True
    """Whether every preference lies in 0..1. If not (see `rectify_preferences`), the mean preferences of pairs are
    clipped to 0..1.
    """

    @property
    def pairs(self) -> int:
        return len(self.first)

    @cached_property
    def comparisons(self) -> int:
        return int(self.count.sum())

    @cached_property
    def by_pair(self) -> Floats:
        """The number of comparisons of each pair."""
        return (
            np.full(self.pairs, float(self.projects))
            if self.full and self.compared_once
            else self.over_pairs(self.count)
        )

    def over_pairs(self, amount: Floats) -> Floats:
        """Return the sum of `amount` over the projects of each pair. `amount` has one element per cell."""
        if self.full:
            return np.asarray(amount.reshape(self.projects, self.pairs).sum(axis=0))
        return np.bincount(self.pair, weights=amount, minlength=self.pairs).astype(np.float64, copy=False)

    def weigh(self, *, by_count: bool) -> tuple[Floats, Floats]:
        """Return the weighted preference and the weight of each cell. With `by_count` every comparison has weight 1;
        otherwise every project of a pair has weight 1.
        """
        if by_count or self.compared_once:
            return self.won, self.count
        return self.won / self.count, np.ones_like(self.count)

    @cached_property
    def compared_once(self) -> bool:
        """True if every pair was compared at most once in a project."""
        return self.comparisons == len(self.count)

    @property
    def full(self) -> bool:
        return self.cells is None

    @property
    def project(self) -> Ints:
        return np.arange(self.projects).repeat(self.pairs) if self.cells is None else self.cells[0]

    @property
    def pair(self) -> Ints:
        return np.tile(np.arange(self.pairs), self.projects) if self.cells is None else self.cells[1]

    def totals(self, *, by_count: bool) -> tuple[Floats, Floats]:
        """Return the mean preference for the first agent, and the total weight, of each pair over all projects."""
        return self._by_comparison if by_count else self._by_project

    @cached_property
    def _by_comparison(self) -> tuple[Floats, Floats]:
        return self._totals(by_count=True)

    @cached_property
    def _by_project(self) -> tuple[Floats, Floats]:
        return self._totals(by_count=False)

    def _totals(self, *, by_count: bool) -> tuple[Floats, Floats]:
        won, weight = self.weigh(by_count=by_count)
        total = self.by_pair if weight is self.count else self.over_pairs(weight)
        return self.clip_means(self.over_pairs(won) / total), total

    def clip_means(self, preference: Floats) -> Floats:
        """Return the mean preferences of pairs, clipped to 0..1. A mean that differs from 0 or 1 only by rounding
        becomes 0 or 1.
        """
        if self.bounded:
            return preference
        near = np.where(preference < _TRACE, 0.0, np.where(preference > 1 - _TRACE, 1.0, preference))
        return np.asarray(near)

    @cached_property
    def per_agent(self) -> tuple[Ints, Ints, Ints]:
        """Return three arrays with an element per agent: the number of its comparisons, of the agents it was compared
        with, and of the projects in which it was compared.
        """
        size = len(self.agents)
        done, others, inside = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        for side in (self.first, self.second):
            done += np.bincount(side, weights=self.by_pair, minlength=size)
            others += np.bincount(side, minlength=size)
        cells = np.full(self.pairs, self.projects) if self.full else np.bincount(self.pair, minlength=self.pairs)
        for agent in range(size):
            # A cell is one project of a pair, so only an agent in several pairs can be in a project twice.
            mine = (self.first == agent) | (self.second == agent)
            inside[agent] = self._projects(mine) if others[agent] > 1 and not self.full else cells[mine].max(initial=0)
        return done.astype(np.int64), others, inside

    def _projects(self, pairs: Flags) -> int:
        """Return the number of projects in which at least one of the flagged pairs was compared."""
        seen = np.zeros(self.projects, dtype=bool)
        seen[self.project if pairs.all() else self.project[pairs[self.pair]]] = True
        return int(np.count_nonzero(seen))

    def edges(self) -> pl.DataFrame:
        """Return the preference graph as a table: first, second, projects, comparisons, preference. The preference is
        that for the first agent, averaged over projects.
        """
        names = pl.Series(self.agents, dtype=pl.String)
        preference, projects = self.totals(by_count=False)
        return pl.DataFrame(
            {
                "first": names.gather(self.first),
                "second": names.gather(self.second),
                "projects": projects.astype(np.int64),
                "comparisons": self.by_pair.astype(np.int64),
                "preference": preference,
            }
        )


def pair_sums(project: Column, first: Column, second: Column, preference: Column, *, bounded: bool = True) -> PairSums:
    """Sum up comparisons by project and pair of agents, from one row per comparison.

    `preference` is the preference for the row's first agent, in 0..1. A null is undecided; it is left out and counted.
    The order of the two agents and of the rows never matters. Set `bounded` to False for corrected preferences, which
    may lie outside 0..1.
    """
    same_length(project=project, first=first, second=second, preference=preference)
    toward, present = floats("preference", preference, **({"low": 0.0, "high": 1.0} if bounded else {}))
    agents, sides = canonical_sides(first, second)
    projects = codes("project", project)
    key, inside = sides.key, projects.index
    undecided: dict[str, int] = {}
    if not present.all():
        open_ = key[~present]
        ends = np.concatenate([sides.one[open_], sides.two[open_]])
        undecided = {agents[a]: int(n) for a, n in zip(*np.unique(ends, return_counts=True), strict=True)}
        toward, key, inside = toward[present], key[present], inside[present]
    size = len(agents)
    used = _used(key, len(sides.one))
    pair, pairs = pair_codes(sides.one[used], sides.two[used], (size, size))
    if sides.flipped[used].any():
        toward = np.where(sides.flipped[key], 1 - toward, toward)
    width = max(len(pairs), 1)
    cell = inside
    if width > 1:
        cell = inside * width
        cell += key if np.array_equal(pair, np.arange(len(sides.one))) else _at(used, pair, len(sides.one))[key]
    won, count, cells = _gather(cell, toward, projects.size * width)
    of = None if cells is None else cells // width
    return PairSums(
        agents=tuple(agents),
        first=pairs // max(size, 1),
        second=pairs % max(size, 1),
        projects=projects.size,
        # A product is several times as fast as another division.
        cells=None if cells is None or of is None else (of, cells - of * width),
        won=won,
        count=count,
        left_out=count_flags(~present),
        undecided=undecided,
        bounded=bounded,
    )


def _used(key: Ints, size: int) -> Ints:
    seen = np.zeros(size, dtype=bool)
    seen[key] = True
    return np.flatnonzero(seen)


def _at(used: Ints, pair: Ints, size: int) -> Ints:
    place = np.zeros(size, dtype=np.int64)
    place[used] = pair
    return place


def _gather(cell: Ints, toward: Floats, size: int) -> tuple[Floats, Floats, Ints | None]:
    """Return the sum of preferences, the number of comparisons, and the number of the cell, for each cell that occurs.
    The numbers are None if all cells occur.
    """
    if size == len(cell):
        seen = np.zeros(size, dtype=bool)
        seen[cell] = True
        if seen.all():
            won = np.empty(size)
            won[cell] = toward
            return won, np.broadcast_to(np.float64(1), size), None
    if size <= 8 * len(cell) + 100_000:
        count = np.bincount(cell, minlength=size)
        total: Floats = np.bincount(cell, weights=toward, minlength=size).astype(np.float64, copy=False)
        if count.all():
            return total, count.astype(np.float64), None
        cells = np.flatnonzero(count)
        return total[cells], count[cells].astype(np.float64), cells
    cells, index = np.unique(cell, return_inverse=True)
    won = np.bincount(index, weights=toward, minlength=len(cells)).astype(np.float64, copy=False)
    return won, np.bincount(index, minlength=len(cells)).astype(np.float64), cells


def compare_tables(*tables: pl.DataFrame) -> PairSums:
    """Sum up the comparisons of several tables. Each table has the columns project, first, second and preference, such
    as the results of `project_preferences` and `human_comparisons`.
    """
    wanted = ["project", "first", "second", "preference"]
    for table in tables:
        if missing := sorted(set(wanted) - set(table.columns)):
            raise UsageError(
                f"the column {missing[0]!r} is missing",
                where="a table of comparisons",
                next=f"give {', '.join(wanted)}",
            )
    if len(tables) == 1:
        return pair_sums(*(tables[0][name] for name in wanted))
    kinds = {table.schema["project"] for table in tables}
    project = pl.col("project") if len(kinds) == 1 else pl.col("project").cast(pl.String)
    names = (pl.col("first").cast(pl.String), pl.col("second").cast(pl.String))
    parts = [table.select(project, *names, pl.col("preference").cast(pl.Float64)) for table in tables]
    blank = pl.DataFrame(schema={**dict.fromkeys(wanted, pl.String), "preference": pl.Float64})
    joined = pl.concat(parts) if parts else blank
    return pair_sums(joined["project"], joined["first"], joined["second"], joined["preference"])
