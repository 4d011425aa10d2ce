"""Filled outlines as pixels: which shape is on top where."""

from __future__ import annotations

import numpy as np
from shapes import Drawing, Shape

SCALE = 4
"""Pixels per unit of the view box."""


def mask(shape: Shape, box: tuple[float, float, float, float]) -> np.ndarray:
    """Pixels whose centres lie inside the shape: shape (rows, columns), True inside."""
    columns, rows = round(box[2] * SCALE), round(box[3] * SCALE)
    edges = []
    for loop in shape.loops:
        points = (np.array(loop) - np.array(box[:2])) * SCALE - 0.5
        edges.append(np.hstack([points, np.roll(points, -1, axis=0)]))
    x0, y0, x1, y1 = np.concatenate(edges).T
    found = np.zeros((rows, columns), bool)
    grid = np.arange(columns)
    for row in range(max(0, int(min(y0)) - 1), min(rows, int(max(y0)) + 2)):
        up, down = (y0 <= row) & (y1 > row), (y1 <= row) & (y0 > row)
        hit = up | down
        if not hit.any():
            continue
        x = x0[hit] + (row - y0[hit]) * (x1[hit] - x0[hit]) / (y1[hit] - y0[hit])
        way = np.where(up[hit], 1, -1)
        order = np.argsort(x, kind="stable")
        winding = np.concatenate([[0], np.cumsum(np.ones_like(way) if shape.evenodd else way[order])])
        winding = winding[np.searchsorted(x[order], grid, side="right")]
        found[row] = winding % 2 == 1 if shape.evenodd else winding != 0
    return found


def layers(drawing: Drawing) -> np.ndarray:
    """The position of the topmost shape at every pixel, -1 where there is none."""
    rows, columns = round(drawing.box[3] * SCALE), round(drawing.box[2] * SCALE)
    top = np.full((rows, columns), -1)
    for place, shape in enumerate(drawing.shapes):
        top[mask(shape, drawing.box)] = place
    return top


def colours(drawing: Drawing) -> np.ndarray:
    """The colour at every pixel as a number 0xRRGGBB, -1 where there is nothing."""
    codes = np.array([*(int(s.fill[1:], 16) for s in drawing.shapes), -1])
    return codes[layers(drawing)]


def grown(area: np.ndarray, by: int) -> np.ndarray:
    """An area and everything within `by` pixels of it along rows and columns."""
    found = area.copy()
    for _ in range(by):
        wider = found.copy()
        wider[1:] |= found[:-1]
        wider[:-1] |= found[1:]
        wider[:, 1:] |= found[:, :-1]
        wider[:, :-1] |= found[:, 1:]
        found = wider
    return found


def rim(area: np.ndarray) -> float:
    """Length of an area's outline in units of the view box, measured along pixels' edges."""
    padded = np.pad(area, 1)
    steps = (padded[1:] != padded[:-1]).sum() + (padded[:, 1:] != padded[:, :-1]).sum()
    return float(steps) / SCALE


def apart(got: np.ndarray, want: np.ndarray) -> float:
    """Mean distance between two outlines in units: the area in which they differ over the wanted outline's length."""
    length = rim(want)
    return float((got != want).sum()) / SCALE**2 / length if length else float("inf")
