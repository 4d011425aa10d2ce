"""Scatter plots: score against what it took (ALE Figure 13), cost against hours (RLI Figure 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.metrics import Estimate

from .canvas import INK, Axis, Canvas, colour, label, log_axis, percent_ticks, plain_ticks

if TYPE_CHECKING:
    import polars as pl

LABELLED = 30
"""Points that get their name; more could not be read."""


@dataclass(frozen=True, slots=True)
class Resource:
    """What a trial took, as a column of a leaderboard's row."""

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
    """Named points; `size` is drawn as area (ALE Figure 13: tokens), all equal where it is empty."""

    names: Sequence[str]
    x: Sequence[Estimate]
    y: Sequence[Estimate]
    size: Sequence[float | None] = ()


def resources(canvas: Canvas, names: Sequence[str], rows: Sequence[Any]) -> None:
    """Mean score against dollars, time and tokens per trial; `rows` are a leaderboard's."""
    tokens = [r.tokens.value for r in rows]
    for one in RESOURCES:
        x = [getattr(r, one.column) for r in rows]
        sizes = tokens if one.column != "tokens" else ()
        area = "; the area is the tokens per trial" if sizes else ""
        axis = Axis(f"score-{one.name}", f"Mean score against {one.name} per trial{area}.", one.says, share=True)
        score_points(canvas, axis, Points(names, x, [r.score for r in rows], sizes))


def score_points(canvas: Canvas, axis: Axis, points: Points) -> None:
    """One point per agent with the intervals of both figures; nothing for fewer than two with both, or no spread."""
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
        for place, (_, x, y, size) in enumerate(shown):
            area = 30 + 350 * (size or 0.0) / largest if largest else 45
            if y.low is not None and y.high is not None:
                axes.plot([x.value] * 2, [y.low, y.high], color=INK, lw=0.8, alpha=0.5)
            if x.low is not None and x.high is not None:
                axes.plot([x.low, x.high], [y.value] * 2, color=INK, lw=0.8, alpha=0.5)
            axes.scatter([x.value], [y.value], s=area, color=colour(place), alpha=0.75, zorder=3)
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
            _name(figure, axes, [(name, x.value or 0.0, y.value or 0.0) for name, x, y, _ in shown])
        data: dict[str, list[Any]] = {"name": [name for name, *_ in shown]}
        for column, ends in (("x", [x for _, x, _, _ in shown]), ("y", [y for _, _, y, _ in shown])):
            data[column] = [e.value for e in ends]
            data |= {f"{column}_low": [e.low for e in ends], f"{column}_high": [e.high for e in ends]}
        data["size"] = [size for *_, size in shown]
        reals = dict.fromkeys([c for c in data if c != "name"], pl.Float64)
        canvas.save(figure, axis, pl.DataFrame(data, schema_overrides=reals))


_SIDES = ((7, 5, "left"), (7, -11, "left"), (-7, 5, "right"), (-7, -11, "right"), (7, 15, "left"), (7, -21, "left"))
"""Where a name may stand beside its point, in points, and how it is aligned; the best place first."""


def _name(figure: Any, axes: Any, points: Sequence[tuple[str, float, float]]) -> None:
    """Names beside their points, each where it covers no other name and no other point, as far as there is room."""
    figure.draw_without_rendering()
    dots = [axes.transData.transform((x, y)) for _, x, y in points]
    taken: list[Any] = []
    for place, (name, x, y) in enumerate(points):
        tried: list[tuple[float, int, Any, Any]] = []
        for right, up, side in _SIDES:
            text = axes.annotate(
                label(name), (x, y), textcoords="offset points", xytext=(right, up), ha=side, color=INK, fontsize=8
            )
            box = text.get_window_extent().padded(2)
            others = [d for other, d in enumerate(dots) if other != place]
            inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 and axes.bbox.y0 <= box.y0
            crowd = sum(box.overlaps(b) for b in taken) + sum(box.contains(*d) for d in others) + (not inside)
            tried.append((crowd, len(tried), text, box))
            if not crowd:
                break
        best = min(tried, key=lambda one: one[:2])
        taken.append(best[3])
        for one in tried:
            if one is not best:
                one[2].remove()


def loglog(canvas: Canvas, axis: Axis, frame: pl.DataFrame, r: Estimate) -> None:
    """Cost against hours, one point per instance, on two logarithmic axes, with the correlation of the logarithms.

    frame: `instance`, `series`, `hours`, `dollars`, all known and above 0. Nothing for fewer than two points.
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
