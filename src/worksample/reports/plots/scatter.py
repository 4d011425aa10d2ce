"""Scatter plots: score against resources (ALE Figure 13), cost against hours (RLI Figure 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.metrics import Estimate

from .canvas import INK, Axis, Canvas, colour, label, log_axis, percent_ticks, plain_ticks
from .point_labels import name_points

if TYPE_CHECKING:
    import polars as pl

LABELLED = 30
"""Maximum number of points with a label. More labels would be unreadable."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that trials use, as a column of a leaderboard's row."""

    column: str
    name: str
    says: str


RESOURCES = (
    Resource("cost", "dollars", "US dollars per trial"),
    Resource("seconds", "time", "seconds per trial"),
    Resource("tokens", "tokens", "tokens per trial"),
)


@dataclass(frozen=True, slots=True)
class Points:
    """Points with names. `size` is drawn as the area of each point (ALE Figure 13: tokens). If `size` is empty, all
    areas are equal.
    """

    names: Sequence[str]
    x: Sequence[Estimate]
    y: Sequence[Estimate]
    size: Sequence[float | None] = ()


def resources(canvas: Canvas, names: Sequence[str], rows: Sequence[Any]) -> None:
    """Draw mean score against dollars, time and tokens per trial; `rows` are a leaderboard's."""
    tokens = [r.tokens.value for r in rows]
    for one in RESOURCES:
        x = [getattr(r, one.column) for r in rows]
        sizes = tokens if one.column != "tokens" else ()
        area = "; the area is the tokens per trial" if sizes else ""
        says = f"Mean score against {one.name} per trial{area}. Dashed: no agent scores higher for less."
        axis = Axis(f"score-{one.name}", says, one.says, share=True)
        score_points(canvas, axis, Points(names, x, [r.score for r in rows], sizes))


def score_points(canvas: Canvas, axis: Axis, points: Points) -> None:
    """Draw one point per agent, with the intervals of both figures. Nothing is drawn if fewer than two points have both
    figures, or if all points are equal.
    """
    import polars as pl

    sizes = points.size or [None] * len(points.names)
    shown = [
        p for p in zip(points.names, points.x, points.y, sizes, strict=True) if None not in (p[1].value, p[2].value)
    ]
    xs = [x.value or 0.0 for _, x, _, _ in shown]
    if len(shown) < 2 or max(xs) == min(xs):
        return
    largest = max((s or 0.0 for _, _, _, s in shown), default=0.0)
    with canvas.drawing(3.8) as (figure, axes):
        axes.step(*_best_for_less(shown), where="post", color=INK, ls="--", lw=0.9, alpha=0.6, zorder=1)
        for name, x, y, size in shown:
            if y.low is not None and y.high is not None:
                axes.plot([x.value] * 2, [y.low, y.high], color=INK, lw=0.8, alpha=0.5)
            if x.low is not None and x.high is not None:
                axes.plot([x.low, x.high], [y.value] * 2, color=INK, lw=0.8, alpha=0.5)
            axes.scatter(
                [x.value], [y.value], s=_area(size, largest), color=canvas.colour_of(name), alpha=0.75, zorder=3
            )
        if min(xs) > 0 and max(xs) / min(xs) > 10:
            axes.set_xscale("log")
            log_axis(axes.xaxis)
        top = min(1.05, 1.25 * max(max(y.value or 0.0, y.high or 0.0) for _, _, y, _ in shown) or 1.05)
        axes.set(xlabel=axis.says, ylabel="mean score", ylim=(-0.05 * top, top))
        axes.margins(x=0.12)
        axes.grid()
        if axis.share:
            percent_ticks(axes.yaxis)
        if axes.get_xscale() == "linear":
            plain_ticks(axes.xaxis)
        if len(shown) <= LABELLED:
            dots = [
                (label(name), x.value or 0.0, y.value or 0.0, canvas.colour_of(name), _area(size, largest))
                for name, x, y, size in shown
            ]
            name_points(figure, axes, dots)
        data: dict[str, list[Any]] = {"name": [name for name, *_ in shown]}
        for column, ends in (("x", [x for _, x, _, _ in shown]), ("y", [y for _, _, y, _ in shown])):
            data[column] = [e.value for e in ends]
            data |= {f"{column}_low": [e.low for e in ends], f"{column}_high": [e.high for e in ends]}
        data["size"] = [size for *_, size in shown]
        reals = dict.fromkeys([c for c in data if c != "name"], pl.Float64)
        canvas.save(figure, axis, pl.DataFrame(data, schema_overrides=reals))


def _area(size: float | None, largest: float) -> float:
    return 30 + 350 * (size or 0.0) / largest if largest else 45.0


def _best_for_less(shown: Sequence[tuple[str, Estimate, Estimate, float | None]]) -> tuple[list[float], list[float]]:
    """Return the Pareto line as x and y: each point that scores higher than all cheaper ones."""
    xs: list[float] = []
    ys: list[float] = []
    for x, y in sorted(((x.value or 0.0, y.value or 0.0) for _, x, y, _ in shown), key=lambda p: (p[0], -p[1])):
        if not ys or y > ys[-1]:
            xs.append(x)
            ys.append(y)
    last = max(x.value or 0.0 for _, x, _, _ in shown)
    return ([*xs, last], [*ys, ys[-1]]) if last > xs[-1] else (xs, ys)


def loglog(canvas: Canvas, axis: Axis, frame: pl.DataFrame, r: Estimate) -> None:
    """Draw cost against hours, one point per instance, on two logarithmic axes, with the correlation of the logarithms.

    frame: `instance`, `series`, `hours`, `dollars`, all known and above 0. Draw nothing for fewer than two points.
    """
    if frame.height < 2:
        return
    with canvas.drawing(4.0) as (figure, axes):
        for place, group in enumerate(frame.partition_by("series", maintain_order=True)):
            name = label(str(group["series"][0]))
            axes.scatter(group["hours"], group["dollars"], s=22, color=colour(place), alpha=0.65, label=name)
        axes.set(xscale="log", yscale="log", xlabel="human hours", ylabel=axis.says)
        log_axis(axes.xaxis)
        log_axis(axes.yaxis)
        axes.grid()
        text = "no correlation: " + r.reason if r.value is None else f"r = {r.value:.3f}"
        if r.low is not None and r.high is not None:
            text += f"  [{r.low:.3f}, {r.high:.3f}]"
        axes.set_title(label(text) if r.value is None else text, loc="left", fontsize=9, color=INK)
        if frame["series"].n_unique() > 1:
            axes.legend(frameon=False, fontsize=8)
        canvas.save(figure, axis, frame)
