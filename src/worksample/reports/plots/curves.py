"""Curves: expected value by task value with its regions (UpBench Figure 7), autoflation over time (RLI 3.3), scores by
release date, and scores under a budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from worksample.dollar_text import in_dollars
from worksample.metrics import Approach, Decision, Estimate
from worksample.reports.figure_formatting import figure as as_text

from .canvas import ACCENT, INK, Axis, Canvas, colour, label, log_axis, percent_ticks, plain_ticks
from .point_labels import name_points

STEPS = 200
WIDE = 10
"""Ratio of the largest to the smallest budget from which the axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class DatedFigure:
    """A figure of an agent, with the day of its model's release."""

    name: str
    day: date
    figure: Estimate


def value_curves(canvas: Canvas, axis: Axis, approaches: Sequence[Approach], decision: Decision) -> None:
    """Draw s V - c per approach over task values from 0 to beyond the last break-even; regions have their approach's
    colour.
    """
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
                in_dollars(end), where, xycoords=("data", "axes fraction"), xytext=(4, -8), textcoords="offset points",
                fontsize=8, color=INK,
            )  # fmt: skip
        for a in approaches:
            expected = a.success * values - a.cost
            text = f"{label(a.name)}: {100 * a.success:.1f} % at {as_text(a.cost, 'dollars')}"
            axes.plot(values, expected, color=colour(at[a.name]), lw=1.8, label=text)
            data[f"expected {a.name}"] = expected.tolist()
        data["best"] = [decision.best(float(v)) for v in values]
        axes.set(xlabel="value of the task if it succeeds, US dollars", ylabel=axis.says, xlim=(0, top))
        axes.grid()
        axes.legend(frameon=False, fontsize=8)
        canvas.save(figure, axis, pl.DataFrame(data))


def curve_over_time(canvas: Canvas, axis: Axis, points: Mapping[str, Estimate]) -> None:
    """Draw a figure as of each ISO date, as steps with intervals. Draw nothing for fewer than two dates with a
    value.
    """
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


def scores_over_time(canvas: Canvas, axis: Axis, agents: Sequence[DatedFigure]) -> None:
    """Draw a dot per agent at its release date, with its interval, and the best so far as a line. Draw nothing for a
    single date.
    """
    import polars as pl
    from matplotlib import dates

    days = cast(Any, dates)  # it has no types
    shown = sorted((a for a in agents if a.figure.value is not None), key=lambda a: (a.day, a.name))
    if len({a.day for a in shown}) < 2:
        return
    with canvas.drawing(3.6) as (figure, axes):
        best: list[float] = []
        for a in shown:
            best.append(max([*best[-1:], a.figure.value or 0.0]))
            if a.figure.low is not None and a.figure.high is not None:
                axes.plot([a.day] * 2, [a.figure.low, a.figure.high], color=INK, lw=0.8, alpha=0.5)
            axes.scatter([a.day], [a.figure.value], s=45, color=canvas.colour_of(a.name), alpha=0.85, zorder=3)
        axes.step([a.day for a in shown], best, where="post", color=INK, ls="--", lw=0.9, alpha=0.6, zorder=1)
        axes.set(xlabel="release date", ylabel=axis.says, ylim=(-0.03, 1.03) if axis.share else None)
        axes.margins(x=0.12)
        axes.grid()
        locator = days.AutoDateLocator(maxticks=7)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(days.ConciseDateFormatter(locator))
        if axis.share:
            percent_ticks(axes.yaxis)
        dots = [
            (label(a.name), float(days.date2num(a.day)), a.figure.value or 0.0, canvas.colour_of(a.name), 45.0)
            for a in shown
        ]
        name_points(figure, axes, dots)
        rows = [(a.name, a.day.isoformat(), a.figure.value, a.figure.low, a.figure.high) for a in shown]
        names = ("name", "released", "value", "low", "high")
        canvas.save(figure, axis, pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None))


def budget_curves(
    canvas: Canvas, axis: Axis, budgets: Sequence[float], lines: Mapping[str, Sequence[Estimate]]
) -> None:
    """Draw each agent's score if no trial could use more than each budget. Draw nothing for fewer than two budgets."""
    import polars as pl

    if len(budgets) < 2 or not lines:
        return
    with canvas.drawing(3.6) as (figure, axes):
        for name, figures in lines.items():
            known = [(b, e.value) for b, e in zip(budgets, figures, strict=True) if e.value is not None]
            colour_ = canvas.colour_of(name)
            axes.plot(*zip(*known, strict=True), "o-", color=colour_, lw=1.6, markersize=4, label=label(name))
        if min(budgets) > 0 and max(budgets) / min(budgets) > WIDE:
            axes.set_xscale("log")
            log_axis(axes.xaxis)
        else:
            plain_ticks(axes.xaxis)
        axes.set(xlabel=axis.says, ylabel="mean score", ylim=(-0.03, 1.03))
        axes.grid()
        percent_ticks(axes.yaxis)
        axes.legend(frameon=False, fontsize=8)
        data = {"budget": list(budgets), **{name: [e.value for e in figures] for name, figures in lines.items()}}
        reals = dict.fromkeys(data, pl.Float64)
        canvas.save(figure, axis, pl.DataFrame(data, schema_overrides=reals))
