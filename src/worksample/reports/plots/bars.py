"""Plots of bars with intervals: one figure per label, or several figures side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.metrics import Estimate

from .canvas import INK, Axis, Canvas, colour, label, percent_ticks, plain_ticks

if TYPE_CHECKING:
    import polars as pl

MOST = 60
"""Maximum number of labels in one plot; the CSV has all of them."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Labels from top to bottom, and one estimate per label for each series."""

    labels: Sequence[str]
    series: Mapping[str, Sequence[Estimate]]


def interval_bars(canvas: Canvas, axis: Axis, bars: Bars, *, mark: float | None = None) -> None:
    """Draw one series as bars that begin at 0, with intervals. With `mark`, draw points with intervals and a line at
    that value instead of bars.

    Each bar has the colour of its label, because labels are agents, and agents have the same colour in all plots of a
    report. Estimates without a value are left out. Nothing is drawn if no estimate has a value.
    """
    (name, estimates), *_ = bars.series.items()
    shown = [(t, e) for t, e in zip(bars.labels, estimates, strict=True) if e.value is not None][:MOST]
    if not shown:
        return
    with canvas.drawing(1.1 + 0.36 * len(shown)) as (figure, axes):
        shown.reverse()
        values = [e.value or 0.0 for _, e in shown]
        if mark is None:
            colours = [canvas.colour_of(text) for text, _ in shown]
            axes.barh(range(len(shown)), values, color=colours, alpha=0.55, height=0.62)
        else:
            axes.axvline(mark, color=INK, ls="--", lw=0.9)
        _whiskers(axes, range(len(shown)), [e for _, e in shown])
        axes.set_yticks(range(len(shown)), [label(t) for t, _ in shown])
        _finish(axes, axis)
        canvas.save(figure, axis, _table(Bars(bars.labels, {name: estimates})))


def grouped_bars(canvas: Canvas, axis: Axis, bars: Bars) -> None:
    """Draw several series side by side for each label (UpBench Figures 3 and 5). Nothing is drawn if no estimate has a
    value.
    """
    if not any(e.value is not None for estimates in bars.series.values() for e in estimates):
        return
    count, rows = len(bars.series), min(len(bars.labels), MOST)
    thick = 0.8 / count
    with canvas.drawing(1.3 + 0.24 * rows * max(count, 1.5)) as (figure, axes):
        for place, (name, estimates) in enumerate(bars.series.items()):
            drawn = [
                (rows - 1 - row + 0.4 - (place + 0.5) * thick, e)
                for row, e in enumerate(estimates[:rows])
                if e.value is not None
            ]
            values = [e.value for _, e in drawn]
            where = [y for y, _ in drawn]
            axes.barh(where, values, color=colour(place), alpha=0.55, height=thick * 0.9, label=label(name))
            _whiskers(axes, where, [e for _, e in drawn])
        axes.set_yticks(range(rows), [label(t) for t in reversed(bars.labels[:rows])])
        axes.set_ylim(-0.6, rows - 0.4)
        _finish(axes, axis)
        if count > 1:
            figure.legend(loc="outside upper left", ncols=min(count, 4), frameon=False, fontsize=8)
        canvas.save(figure, axis, _table(bars))


def _whiskers(axes: Any, where: Sequence[float], estimates: Sequence[Estimate]) -> None:
    for y, e in zip(where, estimates, strict=True):
        axes.plot([e.value], [y], marker="o", color=INK, markersize=3.5, lw=0)
        if e.low is not None and e.high is not None:
            axes.plot([e.low, e.high], [y, y], color=INK, lw=1.3, marker="|", markersize=6)


def _finish(axes: Any, axis: Axis) -> None:
    axes.set_xlabel(axis.says)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    if axis.share:
        low, high = axes.get_xlim()
        axes.set_xlim(min(0.0, low), min(1.02, max(high, 0.1)))
        percent_ticks(axes.xaxis)
    else:
        plain_ticks(axes.xaxis)


def _table(bars: Bars) -> pl.DataFrame:
    import polars as pl

    rows: list[dict[str, Any]] = []
    for name, estimates in bars.series.items():
        for text, e in zip(bars.labels, estimates, strict=True):
            counts = {"planned": e.counts.planned, "valid": e.counts.valid}
            rows.append(
                {"label": text, "series": name, "value": e.value, "low": e.low, "high": e.high, "level": e.level}
                | counts
                | {"method": e.method, "reason": e.reason}
            )
    real = dict.fromkeys(("value", "low", "high", "level"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=real)
