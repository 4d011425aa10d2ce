"""Plots of distributions: scores, prices and hours, counts per kind, and mean scores as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.reports.plots.canvas import EMPTY, INK, Axis, Canvas, label

if TYPE_CHECKING:
    import polars as pl

from collections.abc import Mapping
from typing import TYPE_CHECKING

from worksample.reports.plots.canvas import colour, log_axis, percent_ticks

if TYPE_CHECKING:
    import polars as pl

LEAST = 5
"""Minimum number of values for drawing a distribution."""
LEGEND = 12
KINDS = 40
"""Maximum number of labels in one plot of counts. The CSV file contains all labels."""


def score_spread(canvas: Canvas, frame: pl.DataFrame) -> None:
    """Draw the distribution of the scores of graded trials, in ten steps per agent. frame: verdicts of slots."""
    import polars as pl

    graded = frame.filter(pl.col("state") == "valid")
    if graded.height < LEAST:
        return
    step = (pl.col("score") * 10).floor().clip(0, 9).cast(pl.Int64)
    counts = graded.group_by("entry_label", step.alias("bin")).len().sort("entry_label", "bin")
    totals = dict(graded.group_by("entry_label").len().iter_rows())
    edges = [i / 10 for i in range(11)]
    with canvas.drawing(3.6) as (figure, axes):
        for group in counts.partition_by("entry_label", maintain_order=True):
            name = group["entry_label"][0]
            heights = dict(group.select("bin", "len").iter_rows())
            shares = [heights.get(i, 0) / totals[name] for i in range(10)]
            axes.stairs(shares, edges, label=label(str(name)), lw=1.6, color=canvas.colour_of(str(name)))
        axes.set(xlabel="score", ylabel="share of the agent's graded trials", xlim=(0, 1), ylim=(0, None))
        percent_ticks(axes.yaxis)
        if len(totals) <= LEGEND:
            axes.legend(frameon=False, fontsize=8)
        table = counts.with_columns(low=pl.col("bin") / 10, high=(pl.col("bin") + 1) / 10).drop("bin")
        canvas.save(figure, Axis("scores", "Distribution of the scores of graded trials.", ""), table)


def histogram(canvas: Canvas, axis: Axis, series: Mapping[str, Sequence[float]], bins: int = 16) -> None:
    """Draw values above 0 on a logarithmic axis, each series as shares of its own count (RLI Figure 4).

    Series of fewer than two values are left out. Draw nothing if no series remains or all values are equal.
    """
    import numpy as np
    import polars as pl

    shown = {name: [v for v in values if v > 0] for name, values in series.items()}
    shown = {name: values for name, values in shown.items() if len(values) > 1}
    everything = [v for values in shown.values() for v in values]
    if not everything or min(everything) == max(everything):
        return
    edges = np.geomspace(min(everything), max(everything) * (1 + 1e-9), bins + 1)
    rows = []
    with canvas.drawing(3.4) as (figure, axes):
        for place, (name, values) in enumerate(shown.items()):
            counts = np.histogram(values, edges)[0]
            text = f"{label(name)} ({len(values)})"
            axes.stairs(counts / len(values), edges, fill=True, alpha=0.35, color=colour(place), label=text)
            axes.axvline(float(np.median(values)), color=colour(place), ls="--", lw=1)
            rows += [
                {"series": name, "low": low, "high": high, "count": int(count)}
                for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            ]
        axes.set(xscale="log", xlabel=axis.says, ylabel="share", ylim=(0, None))
        log_axis(axes.xaxis)
        percent_ticks(axes.yaxis)
        axes.legend(frameon=False, fontsize=8)
        canvas.save(figure, axis, pl.DataFrame(rows))


def count_bars(canvas: Canvas, axis: Axis, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Draw shares of several populations side by side per label, such as a suite and a market sample. Draw nothing
    without labels.
    """
    import polars as pl

    if not labels:
        return
    rows, thick = min(len(labels), KINDS), 0.8 / max(len(series), 1)
    with canvas.drawing(1.1 + 0.17 * rows * (1 + len(series))) as (figure, axes):
        for place, (name, values) in enumerate(series.items()):
            where = [rows - 1 - row + 0.4 - (place + 0.5) * thick for row in range(rows)]
            axes.barh(where, values[:rows], height=thick * 0.9, color=colour(place), alpha=0.7, label=label(name))
        axes.set_yticks(range(rows), [label(t) for t in reversed(labels[:rows])])
        axes.set_ylim(-0.6, rows - 0.4)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(axis.says)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        if axis.share:
            percent_ticks(axes.xaxis)
        if len(series) > 1:
            figure.legend(loc="outside upper left", ncols=len(series), frameon=False, fontsize=8)
        canvas.save(figure, axis, pl.DataFrame({"label": list(labels), **{n: list(v) for n, v in series.items()}}))


ROWS, COLUMNS = 80, 40
"""Maximum number of rows and of agents in one heat map. The CSV file contains all of them."""


def heat_map(canvas: Canvas, axis: Axis, rows: Sequence[str], agents: Sequence[str], data: pl.DataFrame) -> None:
    """Draw mean scores as colours; cells without a graded trial are grey. Draw nothing without rows.

    data: one line per cell: `row`, `agent`, `score` (null: none), `graded`, `planned`.
    """
    import numpy as np

    if not rows or not agents:
        return
    shown, agents = rows[:ROWS], agents[:COLUMNS]
    cells = {(r, a): s for r, a, s in data.select("row", "agent", "score").iter_rows()}
    field = np.array([[np.nan if (s := cells.get((r, a))) is None else s for a in agents] for r in shown], dtype=float)
    with canvas.drawing(1.6 + 0.2 * len(shown)) as (figure, axes):
        axes.set_facecolor(EMPTY)
        image = axes.imshow(np.ma.masked_invalid(field), cmap="YlGnBu", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(agents)), [label(a) for a in agents], rotation=40, ha="right", fontsize=8)
        axes.set_yticks(range(len(shown)), [label(r) for r in shown], fontsize=7)
        axes.tick_params(length=0)
        if field.size <= 400:
            for (y, x), score in np.ndenumerate(field):
                text = "–" if np.isnan(score) else f"{score:.2f}"
                axes.text(x, y, text, ha="center", va="center", fontsize=7, color="white" if score > 0.55 else INK)
        figure.colorbar(image, ax=axes, shrink=min(1.0, 4 / max(len(shown) * 0.2, 1)), label=axis.says)
        canvas.save(figure, axis, data)
