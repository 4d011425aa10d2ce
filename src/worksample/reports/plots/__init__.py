"""The plots of a report, each as SVG and PNG beside the CSV of exactly what is drawn."""

from .bars import Bars, grouped_bars, interval_bars
from .canvas import Axis, Canvas, Plot
from .curves import Dated, budget_curves, curve_over_time, scores_over_time, value_curves
from .heat import heat_map
from .points import Points, Resource, loglog, resources, score_points
from .spread import counts_bars, histogram, score_spread

__all__ = [
    "Axis",
    "Bars",
    "Canvas",
    "Dated",
    "Plot",
    "Points",
    "Resource",
    "budget_curves",
    "counts_bars",
    "curve_over_time",
    "grouped_bars",
    "heat_map",
    "histogram",
    "interval_bars",
    "loglog",
    "resources",
    "score_points",
    "score_spread",
    "scores_over_time",
    "value_curves",
]
