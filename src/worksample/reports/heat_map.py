"""Heat maps of mean scores: one row per task or category, and one column per agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from worksample.errors import POLICY, Cause

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class HeatColumn:
    """An agent under one arm and at one attempt: a column of a heat map."""

    entry: str
    name: str


@dataclass(frozen=True, slots=True)
class HeatMapCell:
    score: float | None
    graded: int
    planned: int
    state: str
    """Text of the cell if it has no score."""
    shade: str
    title: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    task: str
    category: str
    page: str
    cells: tuple[HeatMapCell, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    agents: tuple[HeatColumn, ...]
    rows: tuple[HeatRow, ...]


def task_page(task: str) -> str:
    """Return the name of a task's page. The full task name is used, because two task names may begin with the same
    characters.
    """
    return re.sub(r"[^a-z0-9._-]", "_", task) + ".html"


def shade(score: float | None) -> str:
    """Return the CSS class of the shade, one of five, for a score. The class is `n` if the cell has no score."""
    return "n" if score is None else str(min(4, int(score * 5)))


def heat_of(frame: pl.DataFrame, by: Literal["task", "category"] = "task", order: Sequence[str] = ()) -> HeatMap:
    """Build the heat map of a table of verdicts, with a row per task or per category.

    Work without a category has no row. `order` lists the names of agents that come first; other agents follow.
    """
    import polars as pl

    frame = frame.filter(pl.col("slot").is_not_null())
    graded = pl.col("state") == "valid"
    if by == "category":
        frame = frame.filter(pl.col("category").fill_null("") != "")
    cells = (
        frame.group_by(by, "entry")
        .agg(
            pl.col("score").filter(graded).mean().alias("score"),
            graded.sum().alias("graded"),
            pl.len().alias("planned"),
            pl.col("state").mode().sort().first().alias("state"),
        )
        .rows_by_key([by, "entry"], named=True, unique=True)
    )
    who = frame.select("entry", "entry_label").unique().sort("entry_label", "entry")
    place = {name: at for at, name in enumerate(order)}
    agents = tuple(sorted((HeatColumn(*row) for row in who.iter_rows()), key=lambda c: place.get(c.name, len(place))))
    names = frame.select(pl.col(by).alias("name"), "category").unique("name", keep="first").sort("category", "name")
    rows = []
    for name, category in names.iter_rows():
        row = tuple(_cell(cells.get((name, a.entry)), a.name) for a in agents)
        page = task_page(name) if by == "task" else ""
        rows.append(HeatRow(name, category if by == "task" and category else "", page, row))
    return HeatMap(agents, tuple(rows))


def heat_table(heat: HeatMap) -> pl.DataFrame:
    """Return the map as a table for `plots.heat_map`: row, agent, score, graded, planned."""
    import polars as pl

    rows = [
        (row.task, agent.name, cell.score, cell.graded, cell.planned)
        for row in heat.rows
        for agent, cell in zip(heat.agents, row.cells, strict=True)
    ]
    kinds = (pl.String, pl.String, pl.Float64, pl.Int64, pl.Int64)
    return pl.DataFrame(
        rows, dict(zip(("row", "agent", "score", "graded", "planned"), kinds, strict=True)), orient="row"
    )


def _cell(found: dict[str, object] | None, agent: str) -> HeatMapCell:
    if found is None:
        return HeatMapCell(None, 0, 0, "–", "n", f"{agent}: not planned")
    score = found["score"]
    score = float(score) if isinstance(score, (int, float)) else None
    graded, planned = int(str(found["graded"])), int(str(found["planned"]))
    state = str(found["state"]).replace("_", " ")
    return HeatMapCell(score, graded, planned, state, shade(score), f"{agent}: {graded} of {planned} graded")


@dataclass(frozen=True, slots=True)
class CauseRow:
    cause: str
    says: str
    boundary: str
    per_agent: tuple[int, ...]


def causes_of(frame: pl.DataFrame, agents: tuple[HeatColumn, ...]) -> tuple[CauseRow, ...]:
    """Count how often each cause stopped a trial or prevented a grade. The most frequent cause comes first."""
    import polars as pl

    frame = frame.filter(pl.col("slot").is_not_null())
    ended = frame.filter(pl.col("cause").is_not_null()).select("entry", "cause")
    kept = frame.filter((pl.col("state") == "ungraded") & pl.col("verdict_cause").is_not_null())
    both = pl.concat([ended, kept.select("entry", pl.col("verdict_cause").alias("cause"))])
    counts = {(cause, entry): count for cause, entry, count in both.group_by("cause", "entry").len().iter_rows()}
    totals = both.group_by("cause").len().sort("len", "cause", descending=[True, False])
    rows = []
    for cause, _ in totals.iter_rows():
        policy = POLICY[Cause(cause)]
        per_agent = tuple(counts.get((cause, a.entry), 0) for a in agents)
        rows.append(CauseRow(cause, policy.description, policy.boundary.value, per_agent))
    return tuple(rows)
