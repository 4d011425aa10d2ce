"""A pen that follows path commands and leaves polygons."""

from __future__ import annotations

import math

from worksample.errors import DeliverableError

Point = tuple[float, float]
STEPS = 48


class Pen:
    """Draws commands of SVG paths; `loops` are the polygons so far, `segments` the commands that drew."""

    def __init__(self) -> None:
        self.loops: list[list[Point]] = []
        self.segments = 0
        self._at: Point = (0.0, 0.0)
        self._start: Point = (0.0, 0.0)
        self._last = ""
        self._handle: Point = (0.0, 0.0)

    def draw(self, command: str, values: list[float]) -> None:
        """One command with its arguments."""
        if any(not abs(v) <= 1e6 for v in values):
            raise DeliverableError("has coordinates beyond a million")
        kind = command.upper()
        x, y = self._at if command.islower() else (0.0, 0.0)
        if kind == "Z":
            self._at = self._start
        elif kind == "M":
            self._at = self._start = (x + values[0], y + values[1])
            self.loops.append([self._at])
        else:
            if not self.loops or self._last == "Z":
                self.loops.append([self._at])
            self.segments += 1
            self._segment(kind, values, x, y)
        self._last = kind

    def _segment(self, kind: str, v: list[float], x: float, y: float) -> None:
        if kind == "H":
            self._to([(x + v[0], self._at[1])])
        elif kind == "V":
            self._to([(self._at[0], y + v[0])])
        elif kind == "L":
            self._to([(x + v[0], y + v[1])])
        elif kind == "A":
            self._to(arc(self._at, v, (x + v[5], y + v[6])))
        else:
            points = [(x + v[i], y + v[i + 1]) for i in range(0, len(v), 2)]
            if kind in "ST":
                smooth = self._last in ("CS" if kind == "S" else "QT")
                mirror = (2 * self._at[0] - self._handle[0], 2 * self._at[1] - self._handle[1])
                points.insert(0, mirror if smooth else self._at)
            self._handle = points[-2]
            self._to(curve([self._at, *points]))

    def _to(self, points: list[Point]) -> None:
        self.loops[-1].extend(points)
        self._at = points[-1]


def curve(control: list[Point]) -> list[Point]:
    """A Bezier curve of two or three degrees as points, without its first one."""
    found = []
    for k in range(1, STEPS + 1):
        points, t = control, k / STEPS
        while len(points) > 1:
            points = [
                (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))
                for a, b in zip(points, points[1:], strict=False)  # noqa: RUF007 - the last one has no partner
            ]
        found.append(points[0])
    return found


def arc(start: Point, v: list[float], end: Point) -> list[Point]:
    """An elliptical arc as points, without its first one (SVG 1.1, appendix F.6)."""
    rx, ry, turn = abs(v[0]), abs(v[1]), math.radians(v[2])
    large, sweep = v[3] != 0, v[4] != 0
    if rx == 0 or ry == 0 or start == end:
        return [end]
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = (start[0] - end[0]) / 2, (start[1] - end[1]) / 2
    x, y = c * dx + s * dy, -s * dx + c * dy
    grow = max(1.0, math.sqrt((x / rx) ** 2 + (y / ry) ** 2))
    rx, ry = rx * grow, ry * grow
    below = (rx * y) ** 2 + (ry * x) ** 2
    root = math.sqrt(max(0.0, (rx * ry) ** 2 / below - 1)) * (1 if large != sweep else -1)
    mx, my = root * rx * y / ry, -root * ry * x / rx
    cx, cy = c * mx - s * my + (start[0] + end[0]) / 2, s * mx + c * my + (start[1] + end[1]) / 2
    first = math.atan2((y - my) / ry, (x - mx) / rx)
    sweep_by = (math.atan2((-y - my) / ry, (-x - mx) / rx) - first) % (2 * math.pi)
    if not sweep:
        sweep_by -= 2 * math.pi
    count = 2 * STEPS
    found = []
    for k in range(1, count):
        t = first + sweep_by * k / count
        ex, ey = rx * math.cos(t), ry * math.sin(t)
        found.append((cx + c * ex - s * ey, cy + s * ex + c * ey))
    return [*found, end]
