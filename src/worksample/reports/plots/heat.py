"""Heat maps: agents across, tasks or categories down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .canvas import EMPTY, INK, Axis, Canvas, label

if TYPE_CHECKING:
    import polars as pl

ROWS, COLUMNS = 80, 40
"""Rows and agents of one picture; the CSV holds all."""


def heat_map(canvas: Canvas, axis: Axis, rows: Sequence[str], agents: Sequence[str], data: pl.DataFrame) -> None:
    """Mean scores as colours; what has no graded trial is grey. Nothing without rows.

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
