"""A plot is laid out once for all of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.layout_engine import ConstrainedLayoutEngine

from worksample.reports.plots import Axis, Canvas
from worksample.reports.plots.point_labels import name_points


class Counting(ConstrainedLayoutEngine):
    """Says how often it was asked."""

    asked = 0

    def execute(self, fig: Any) -> Any:
        self.asked += 1
        return super().execute(fig)


def test_plot_with_labels_and_three_pictures_is_laid_out_once(tmp_path: Path) -> None:
    canvas, engine = Canvas(tmp_path), Counting()
    with canvas.drawing(3.0) as (figure, axes):
        figure.set_layout_engine(engine)
        axes.scatter([0.2, 0.8], [0.2, 0.8])
        axes.set_ylabel("a label that needs room beside the axes")
        name_points(figure, axes, [("one", 0.2, 0.2, "#000000", 45.0), ("two", 0.8, 0.8, "#000000", 45.0)])
        canvas.save(figure, Axis("points", "", ""), pl.DataFrame({"x": [0.2, 0.8]}))
        label = axes.yaxis.label.get_window_extent()
    assert engine.asked == 1
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"points.svg", "points-dark.svg", "points.png", "points.csv"}
    assert label.x0 >= 0, "and nothing is cut off"
