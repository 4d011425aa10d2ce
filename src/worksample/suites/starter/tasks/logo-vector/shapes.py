"""SVG drawings as filled outlines: the plain shapes, flattened to polygons in the units of the view box."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from outline import Pen

from worksample.errors import DeliverableError

Point = tuple[float, float]
Loop = list[Point]
Matrix = tuple[float, float, float, float, float, float]

SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
DRAWN = ("path", "rect", "circle", "ellipse", "polygon")
SILENT = ("svg", "g", "title", "desc", "metadata", "defs")
SEGMENTS = 5_000
"""Segments of one file that are looked at."""
DEPTH = 50
FAR = 1e7
"""Units from the origin; numbers as they are written reach a tenth of it."""
STEPS = 48
"""Chords of a full turn or of one curve."""
_TOKEN = re.compile(r"([MmLlHhVvCcSsQqTtAaZz])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?)")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


@dataclass(frozen=True)
class Shape:
    """A filled area. `fill` as #RRGGBB in capitals; `loops` are closed polygons."""

    name: str
    fill: str
    evenodd: bool
    loops: tuple[Loop, ...]
    nodes: int
    """Segments or corners in the file."""


@dataclass(frozen=True)
class Drawing:
    box: tuple[float, float, float, float]
    shapes: tuple[Shape, ...]
    faults: tuple[str, ...]
    """What a plotter that knows filled shapes only cannot read."""
    title: str
    desc: str

    @property
    def nodes(self) -> int:
        return sum(s.nodes for s in self.shapes)


def local(name: Any) -> str:
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def drawing(root: Any) -> Drawing:
    """What an SVG root draws. DeliverableError where numbers or path data cannot be read."""
    try:
        box = tuple(float(v) for v in re.split(r"[\s,]+", root.get("viewBox", "").strip()))
    except ValueError:
        box = ()
    if len(box) != 4:
        raise DeliverableError("has no viewBox of four numbers")
    shapes: list[Shape] = []
    faults: list[str] = []
    for shape in _walk(root, SAME, {"fill": "#000000", "fill-rule": "nonzero"}, faults, 0):
        shapes.append(shape)
        if sum(s.nodes for s in shapes) > SEGMENTS:
            raise DeliverableError(f"has more than {SEGMENTS} segments")
    heads = [e for e in root if local(e.tag) not in ("metadata", "defs")][:2]
    said = {local(e.tag): " ".join("".join(e.itertext()).split()) for e in heads}
    return Drawing(box, tuple(shapes), tuple(dict.fromkeys(faults)), said.get("title", ""), said.get("desc", ""))  # type: ignore[arg-type]


def _properties(element: Any) -> dict[str, str]:
    found = {local(k): v.strip() for k, v in element.attrib.items()}
    for item in found.pop("style", "").split(";"):
        name, colon, value = item.partition(":")
        if colon:
            found[name.strip()] = value.strip()
    return found


def _walk(element: Any, matrix: Matrix, above: dict[str, str], faults: list[str], depth: int) -> Iterator[Shape]:
    if depth > DEPTH:
        raise DeliverableError("is nested too deeply")
    name, own = local(element.tag), _properties(element)
    foreign = isinstance(element.tag, str) and element.tag.startswith("{") and "www.w3.org/2000/svg" not in element.tag
    if not name or foreign or name in ("metadata", "title", "desc"):
        return
    if name == "defs":
        faults += [f"defs with {local(e.tag)}" for e in element if local(e.tag)]
        return
    if name not in DRAWN + SILENT:
        faults.append(f"the element {name}")
        return
    faults += _forbidden(own)
    style = {k: own.get(k, above[k]) if own.get(k) != "inherit" else above[k] for k in above}
    if "transform" in own:
        matrix = times(matrix, transform(own["transform"]))
    if own.get("display") == "none" or own.get("visibility") == "hidden":
        faults.append("hidden shapes")
        return
    if name in DRAWN:
        fill = _colour(style["fill"], faults)
        if fill:
            loops, nodes = OUTLINES[name](own)
            if any(len(loop) > 2 for loop in loops):
                placed = tuple([apply(matrix, p) for p in loop] for loop in loops if len(loop) > 2)
                yield Shape(own.get("id", ""), fill, style["fill-rule"] == "evenodd", placed, nodes)
        return
    for child in element:
        yield from _walk(child, matrix, style, faults, depth + 1)


def _forbidden(own: dict[str, str]) -> list[str]:
    found = [k for k in ("clip-path", "mask", "filter") if own.get(k, "none") != "none"]
    found += ["stroke"] if own.get("stroke", "none") not in ("none", "transparent", "") else []
    for name in ("opacity", "fill-opacity"):
        try:
            found += [name] if float(own.get(name, "1").rstrip("%")) not in (1.0, 100.0) else []
        except ValueError:
            found.append(name)
    return found + [k for k in own if k.startswith("on") or k == "href"]


def _colour(value: str, faults: list[str]) -> str:
    code = re.fullmatch(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})", value)
    if code:
        digits = code.group(1)
        return "#" + ("".join(c * 2 for c in digits) if len(digits) == 3 else digits).upper()
    if value not in ("none", "transparent"):
        faults.append(f"the fill {value[:40]!r}")
    return ""


def transform(text: str) -> Matrix:
    """The matrix of a transform list."""
    found = SAME
    for name, inside in re.findall(r"(\w+)\s*\(([^)]*)\)", text[:2_000]):
        v = _numbers(inside)
        if name == "matrix" and len(v) == 6:
            step: Matrix = (v[0], v[1], v[2], v[3], v[4], v[5])
        elif name == "translate" and v:
            step = (1, 0, 0, 1, v[0], v[1] if len(v) > 1 else 0)
        elif name == "scale" and v:
            step = (v[0], 0, 0, v[1] if len(v) > 1 else v[0], 0, 0)
        elif name == "rotate" and len(v) in (1, 3):
            c, s = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
            x, y = v[1:] if len(v) == 3 else (0.0, 0.0)
            step = (c, s, -s, c, x - c * x + s * y, y - s * x - c * y)
        elif name in ("skewX", "skewY") and len(v) == 1:
            t = math.tan(math.radians(v[0]))
            step = (1, 0, t, 1, 0, 0) if name == "skewX" else (1, t, 0, 1, 0, 0)
        else:
            raise DeliverableError(f"has a transform that cannot be read: {name}({inside[:40]})")
        found = times(found, step)
    return found


def times(m: Matrix, n: Matrix) -> Matrix:
    return (
        m[0] * n[0] + m[2] * n[1],
        m[1] * n[0] + m[3] * n[1],
        m[0] * n[2] + m[2] * n[3],
        m[1] * n[2] + m[3] * n[3],
        m[0] * n[4] + m[2] * n[5] + m[4],
        m[1] * n[4] + m[3] * n[5] + m[5],
    )


def apply(m: Matrix, p: Point) -> Point:
    """The point under a matrix. DeliverableError where that lies beyond any picture."""
    found = (m[0] * p[0] + m[2] * p[1] + m[4], m[1] * p[0] + m[3] * p[1] + m[5])
    if not (abs(found[0]) <= FAR and abs(found[1]) <= FAR):  # also where one is no number
        raise DeliverableError("has shapes that are moved beyond any picture")
    return found


def _numbers(text: str) -> list[float]:
    found = [float(t) for t in re.findall(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?", text)]
    if any(abs(v) > 1e6 for v in found):
        raise DeliverableError("has coordinates beyond a million")
    return found


def _length(own: dict[str, str], name: str, default: float = 0.0) -> float:
    text = own.get(name, "")
    if not text:
        return default
    try:
        value = float(text.removesuffix("px"))
    except ValueError:
        raise DeliverableError(f"has a length that cannot be read: {name}={text[:40]!r}") from None
    if not abs(value) <= 1e6:
        raise DeliverableError("has coordinates beyond a million")
    return value


def _oval(x: float, y: float, rx: float, ry: float) -> Loop:
    turns = [2 * math.pi * k / (4 * STEPS) for k in range(4 * STEPS)]
    return [(x + rx * math.cos(t), y + ry * math.sin(t)) for t in turns]


def _circle(own: dict[str, str]) -> tuple[list[Loop], int]:
    r = _length(own, "r")
    return ([_oval(_length(own, "cx"), _length(own, "cy"), r, r)] if r > 0 else []), 4


def _ellipse(own: dict[str, str]) -> tuple[list[Loop], int]:
    rx, ry = _length(own, "rx"), _length(own, "ry")
    return ([_oval(_length(own, "cx"), _length(own, "cy"), rx, ry)] if rx > 0 and ry > 0 else []), 4


def _rect(own: dict[str, str]) -> tuple[list[Loop], int]:
    x, y, w, h = (_length(own, n) for n in ("x", "y", "width", "height"))
    if w <= 0 or h <= 0:
        return [], 4
    rx = _length(own, "rx", _length(own, "ry"))
    ry = _length(own, "ry", rx)
    rx, ry = min(max(rx, 0), w / 2), min(max(ry, 0), h / 2)
    corners = [(x + w - rx, y + ry, -90), (x + w - rx, y + h - ry, 0), (x + rx, y + h - ry, 90), (x + rx, y + ry, 180)]
    loop = []
    for cx, cy, start in corners:
        for k in range(STEPS + 1 if rx and ry else 1):
            t = math.radians(start + 90 * k / STEPS)
            loop.append((cx + rx * math.cos(t), cy + ry * math.sin(t)))
    return [loop], 4


def _polygon(own: dict[str, str]) -> tuple[list[Loop], int]:
    v = _numbers(own.get("points", ""))
    loop = list(zip(v[::2], v[1::2], strict=False))
    return [loop], len(loop)


def _path(own: dict[str, str]) -> tuple[list[Loop], int]:

    data = own.get("d", "")
    if len(data) > 200_000:
        raise DeliverableError("has a path of more than 200,000 characters")
    pen = Pen()
    tokens = [m.group() for m in _TOKEN.finditer(data)]
    if re.sub(r"[\s,]+", "", _TOKEN.sub("", data)) or (tokens and tokens[0] not in "Mm"):
        raise DeliverableError("has path data that cannot be read")
    place, command = 0, ""
    while place < len(tokens):
        if tokens[place].isalpha():
            command = tokens[place]
            place += 1
        count = _ARGUMENTS[command.upper()]
        if command in "Zz" and place < len(tokens) and not tokens[place].isalpha():
            raise DeliverableError("has path data that cannot be read")
        if command in "Aa":
            values, place = _arc_values(tokens, place)
        else:
            values, place = tokens[place : place + count], place + count
        if len(values) < count or any(t.isalpha() for t in values):
            raise DeliverableError("has path data that ends early")
        pen.draw(command, [float(t) for t in values])
        command = {"M": "L", "m": "l"}.get(command, command)
    return pen.loops, pen.segments


def _arc_values(tokens: list[str], place: int) -> tuple[list[str], int]:
    """An arc's seven arguments: its two flags may be written without space before the next number."""
    values: list[str] = []
    rest = tokens[place : place + 7]
    while rest and len(values) < 7:
        token = rest.pop(0)
        place += 1
        if len(values) in (3, 4) and len(token) > 1 and token[0] in "01":
            values.append(token[0])
            rest.insert(0, token[1:])
            place -= 1
            tokens[place] = token[1:]
            continue
        values.append(token)
    return values, place


OUTLINES: dict[str, Callable[[dict[str, str]], tuple[list[Loop], int]]] = {
    "path": _path,
    "rect": _rect,
    "circle": _circle,
    "ellipse": _ellipse,
    "polygon": _polygon,
}


def outline_length(shape: Shape) -> float:
    total = 0.0
    for loop in shape.loops:
        points = np.array([*loop, loop[0]])
        total += float(np.hypot(*np.diff(points, axis=0).T).sum())
    return total
