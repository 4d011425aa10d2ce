"""Curves: expected value by task value with its regions (UpBench Figure 7), autoflation over time (RLI 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from worksample.metrics import Approach, Decision, Estimate

from .canvas import ACCENT, INK, Axis, Canvas, colour, label, percent_ticks

STEPS = 200


def value_curves(canvas: Canvas, axis: Axis, approaches: Sequence[Approach], decision: Decision) -> None:
    """s V - c per approach over task values from 0 to past the last break-even, regions in their approach's colour."""
    import numpy as np
    import polars as pl

    ends = [r.high for r in decision.regions if r.high is not None]
    dear = max((a.cost for a in approaches), default=0.0)
    top = 1.4 * max([*ends, dear]) or 1.0
    values = np.linspace(0, top, STEPS)
    at = {a.name: place for place, a in enumerate(approaches)}
    data: dict[str, Sequence[object]] = {"task_value": values.tolist()}
    with canvas.drawing(3.8) as (figure, axes):
        for region in decision.regions:
            axes.axvspan(region.low, min(region.high or top, top), color=colour(at[region.approach]), alpha=0.13, lw=0)
        for end in ends:
            axes.axvline(end, color=INK, ls="--", lw=0.9)
            where = (end, 0.98)
            axes.annotate(
                f"${end:,.2f}", where, xycoords=("data", "axes fraction"), xytext=(4, -8), textcoords="offset points",
                fontsize=8, color=INK,
            )  # fmt: skip
        for a in approaches:
            expected = a.success * values - a.cost
            text = f"{label(a.name)}: {100 * a.success:.1f} % at ${a.cost:,.2f}"
            axes.plot(values, expected, color=colour(at[a.name]), lw=1.8, label=text)
            data[f"expected {a.name}"] = expected.tolist()
        data["best"] = [decision.best(float(v)) for v in values]
        axes.set(xlabel="value of the task if it succeeds, US dollars", ylabel=axis.says, xlim=(0, top))
        axes.grid()
        axes.legend(frameon=False, fontsize=8)
        canvas.save(figure, axis, pl.DataFrame(data))


def curve_over_time(canvas: Canvas, axis: Axis, points: Mapping[str, Estimate]) -> None:
    """A figure as of each ISO date, as steps with its interval. Nothing for fewer than two dates with a value."""
    import polars as pl

    shown = [(date.fromisoformat(day), e) for day, e in sorted(points.items()) if e.value is not None]
    if len(shown) < 2:
        return
    days = [d for d, _ in shown]
    values = [e.value or 0.0 for _, e in shown]
    low = [e.low if e.low is not None else e.value for _, e in shown]
    high = [e.high if e.high is not None else e.value for _, e in shown]
    with canvas.drawing(3.4) as (figure, axes):
        axes.fill_between(days, low, high, step="post", color=ACCENT, alpha=0.18, lw=0)
        axes.step(days, values, where="post", color=ACCENT, lw=1.8)
        axes.plot(days, values, "o", color=ACCENT, markersize=4)
        axes.set(xlabel="release date", ylabel=axis.says, ylim=(0, None))
        axes.tick_params(axis="x", rotation=30)
        axes.grid()
        if axis.share:
            percent_ticks(axes.yaxis)
        data = {"date": [d.isoformat() for d in days], "value": values, "low": low, "high": high}
        canvas.save(figure, axis, pl.DataFrame(data))
