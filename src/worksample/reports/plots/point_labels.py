"""Labels of the points of a plot. Each label has the colour of its point and is next to it, or is connected to it by a
line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .canvas import lay_out

Dot = tuple[str, float, float, str, float]
"""A point to label: its name, x and y in data units, colour, and area in square points."""
NEAR = ((7, 5), (7, -11), (-7, 5), (-7, -11), (0, 9), (0, -15))
"""Offsets from a point to its label, in typographic points, in order of preference."""
USUAL = 7 / 0.6
"""Usual radius of a point, in points; a larger point moves its label further away."""
RINGS = (18, 30, 44, 60, 80)
"""Distances from a point, in typographic points, at which a free place for its label is searched if no place next to it
is free.
"""


@dataclass(frozen=True, slots=True)
class _Spot:
    """A drawn point of the plot, with its position and size in pixels."""

    x: float
    y: float
    radius: float

    def meets(self, box: Any) -> bool:
        """Return whether a text's box overlaps the point."""
        near = min(max(self.x, box.x0), box.x1), min(max(self.y, box.y0), box.y1)
        return math.dist((self.x, self.y), near) < self.radius


def name_points(figure: Any, axes: Any, dots: Sequence[Dot]) -> None:
    """Write each name so that it covers no other name and no point and stays within the axes, if there is room."""
    lay_out(figure)
    spots = [_spot(figure, axes, dot) for dot in dots]
    taken: list[Any] = []
    # From right to left: the rightmost points have the least room.
    for place in sorted(range(len(dots)), key=lambda i: (-spots[i].x, spots[i].y, i)):
        best: tuple[float, Any, Any] | None = None
        for rank, offset in enumerate(_offsets()):
            text = _write(axes, dots[place], offset)
            box = text.get_window_extent().padded(2)
            cost = 10 * _crowd(axes, box, taken, spots, place) + rank / 100
            if best is not None and cost >= best[0]:
                text.remove()
                continue
            if best is not None:
                best[1].remove()
            best = (cost, text, box)
            if cost < 1:
                break
        if best is not None:
            taken.append(best[2])


def _offsets() -> Iterator[tuple[float, float]]:
    yield from NEAR
    for ring in RINGS:
        yield from ((right * ring, up * ring) for right, up in product((1, -1, 0), (1, -1, 0)) if right or up)


def _write(axes: Any, dot: Dot, offset: tuple[float, float]) -> Any:
    name, x, y, colour, area = dot
    right, up = (one * (1 + math.sqrt(area) / 2 / USUAL) if one else 0.0 for one in offset)
    side = "left" if right > 0 else "right" if right < 0 else "center"
    far = offset not in NEAR
    tie = {"arrowstyle": "-", "color": colour, "lw": 0.7, "alpha": 0.7, "shrinkA": 0, "shrinkB": 3} if far else None
    text = axes.annotate(
        name, (x, y), textcoords="offset points", xytext=(right, up), ha=side, fontsize=8, color=colour, arrowprops=tie
    )
    text.set_in_layout(False)
    return text


def _spot(figure: Any, axes: Any, dot: Dot) -> _Spot:
    """Return a point's place in pixels; its area is in square points."""
    _, x, y, _, area = dot
    right, up = axes.transData.transform((x, y))
    return _Spot(float(right), float(up), math.sqrt(area) / 2 * float(figure.dpi) / 72)


def _crowd(axes: Any, box: Any, taken: Sequence[Any], spots: Sequence[_Spot], own: int) -> int:
    """Return how much a label would cover: other labels, other points, and the edge of the axes."""
    others = sum(spot.meets(box) for place, spot in enumerate(spots) if place != own)
    inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 and axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
    return int(sum(bool(box.overlaps(other)) for other in taken) + others + (not inside))
