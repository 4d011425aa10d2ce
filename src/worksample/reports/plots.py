"""The plots of a report: SVG beside the CSV of exactly what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .leaderboard import Leaderboard

if TYPE_CHECKING:
    import polars as pl

INK, ACCENT, SOFT = "#37474f", "#00796b", "#b0bec5"


@dataclass(frozen=True, slots=True)
class Plot:
    name: str
    caption: str


def draw(board: Leaderboard, frame: pl.DataFrame, folder: Path) -> list[Plot]:
    """Write every plot that the data supports and say which; SVG text stays text, ids are fixed."""
    import matplotlib as mpl

    mpl.use("Agg")
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "worksample",
        "font.family": ["Liberation Sans", "DejaVu Sans"],
    }
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(style):
        return [*_pass_rates(board, folder), *_against_cost(board, folder), *_scores(frame, folder)]


def _axes(height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    return figure, axes


def _save(figure: Any, data: pl.DataFrame, folder: Path, name: str) -> None:
    figure.savefig(folder / f"{name}.svg", format="svg", metadata={"Date": None})
    data.write_csv(folder / f"{name}.csv")


def _pass_rates(board: Leaderboard, folder: Path) -> Iterator[Plot]:
    import polars as pl

    rows = [r for r in reversed(board.rows) if r.passed.value is not None]
    if not rows:
        return
    values = [r.passed.value or 0.0 for r in rows]
    low = [v - (r.passed.low if r.passed.low is not None else v) for v, r in zip(values, rows, strict=True)]
    high = [(r.passed.high if r.passed.high is not None else v) - v for v, r in zip(values, rows, strict=True)]
    figure, axes = _axes(1.2 + 0.42 * len(rows))
    axes.barh([r.name for r in rows], values, color=ACCENT, height=0.6)
    axes.errorbar(values, range(len(rows)), xerr=[low, high], fmt="none", ecolor=INK, capsize=3, lw=1)
    axes.set(xlim=(0, 1), xlabel="share of graded trials that pass in full, with 95 % interval")
    data = pl.DataFrame(
        {
            "agent": [r.name for r in rows],
            "pass": values,
            "low": [r.passed.low for r in rows],
            "high": [r.passed.high for r in rows],
            "graded": [r.valid for r in rows],
            "planned": [r.planned for r in rows],
        }
    )
    _save(figure, data, folder, "pass")
    yield Plot("pass", "Full passes per agent.")


def _against_cost(board: Leaderboard, folder: Path) -> Iterator[Plot]:
    import polars as pl

    for column, label, unit in (("cost", "US dollars", "dollars"), ("seconds", "seconds", "time")):
        rows = [r for r in board.rows if getattr(r, column).value is not None and r.score.value is not None]
        if len(rows) < 2:
            continue
        x = [getattr(r, column).value for r in rows]
        y = [r.score.value for r in rows]
        figure, axes = _axes(3.6)
        axes.scatter(x, y, color=ACCENT, zorder=3)
        for r, a, b in zip(rows, x, y, strict=True):
            axes.annotate(r.name, (a, b), textcoords="offset points", xytext=(6, 4), color=INK, fontsize=9)
        if min(x) > 0 and max(x) / min(x) > 10:
            axes.set_xscale("log")
        axes.set(xlabel=f"{label} per trial", ylabel="mean score", ylim=(-0.03, 1.05))
        axes.grid(color=SOFT, alpha=0.4)
        data = pl.DataFrame({"agent": [r.name for r in rows], column: x, "score": y})
        _save(figure, data, folder, f"score-{unit}")
        yield Plot(f"score-{unit}", f"Mean score against {unit} per trial.")


def _scores(frame: pl.DataFrame, folder: Path) -> Iterator[Plot]:
    import polars as pl

    graded = frame.filter(pl.col("state") == "valid")
    if graded.height < 5:
        return
    bins = [i / 10 for i in range(11)]
    step = (pl.col("score") * 10).floor().clip(0, 9).cast(pl.Int64)
    counts = graded.group_by("agent_name", step.alias("bin")).len().sort("agent_name", "bin")
    figure, axes = _axes(3.6)
    for name, group in counts.group_by("agent_name", maintain_order=True):
        heights = dict(group.select("bin", "len").iter_rows())
        axes.stairs([heights.get(i, 0) for i in range(10)], bins, label=str(name[0]), lw=1.6)
    axes.set(xlabel="score", ylabel="graded trials", xlim=(0, 1))
    if counts["agent_name"].n_unique() <= 12:
        axes.legend(frameon=False, fontsize=8)
    _save(figure, counts.with_columns(low=pl.col("bin") / 10).drop("bin"), folder, "scores")
    yield Plot("scores", "Distribution of scores.")
