"""Reads bars and labels out of an SVG: boxes with their fill and texts with their place, in the picture's own units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import cos, radians, sin
from typing import TYPE_CHECKING

from worksample.errors import DeliverableError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Matrix = tuple[float, float, float, float, float, float]
UNIT: Matrix = (1, 0, 0, 1, 0, 0)
FAR = 1e9
"""Units; what lies beyond is no place in a picture."""
LONGEST = 10_000
"""Characters of a style sheet or a transformation that are looked at."""
HIDDEN = {"defs", "symbol", "clipPath", "mask", "pattern", "marker", "metadata", "style", "script", "title", "desc"}
INHERITED = ("fill", "fill-opacity", "opacity", "display", "visibility")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CALL = re.compile(r"(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^)]*)\)")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_NAMED = {"white": "#ffffff", "black": "#000000"}


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float
    fill: str

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(frozen=True)
class Label:
    text: str
    x: float
    y: float


def name_of(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def numbers(text: str | None) -> list[float]:
    """The numbers in an attribute. DeliverableError for one that no picture can have."""
    found = [float(n) for n in re.findall(_NUMBER, text or "")]
    if any(not abs(n) <= FAR for n in found):
        raise DeliverableError("has numbers beyond any picture", where="chart.svg")
    return found


def first(text: str | None, default: float = 0.0) -> float:
    found = numbers(text)
    return found[0] if found else default


def times(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] * b[0] + a[2] * b[1], a[1] * b[0] + a[3] * b[1],
        a[0] * b[2] + a[2] * b[3], a[1] * b[2] + a[3] * b[3],
        a[0] * b[4] + a[2] * b[5] + a[4], a[1] * b[4] + a[3] * b[5] + a[5],
    )  # fmt: skip


def place(m: Matrix, x: float, y: float) -> tuple[float, float]:
    found = m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]
    if not (abs(found[0]) <= FAR and abs(found[1]) <= FAR):  # also where one is no number
        raise DeliverableError("has shapes that are moved beyond any picture", where="chart.svg")
    return found


def transform(text: str | None) -> Matrix:
    """What a transform attribute does; skews, which no chart needs, are left out."""
    found = UNIT
    for name, inner in _CALL.findall((text or "")[:LONGEST]):
        n = numbers(inner)
        if name == "matrix" and len(n) == 6:
            found = times(found, (n[0], n[1], n[2], n[3], n[4], n[5]))
        elif name == "translate" and n:
            found = times(found, (1, 0, 0, 1, n[0], n[1] if len(n) > 1 else 0))
        elif name == "scale" and n:
            found = times(found, (n[0], 0, 0, n[1] if len(n) > 1 else n[0], 0, 0))
        elif name == "rotate" and n:
            c, s = cos(radians(n[0])), sin(radians(n[0]))
            x, y = (n[1], n[2]) if len(n) == 3 else (0, 0)
            found = times(times(times(found, (1, 0, 0, 1, x, y)), (c, s, -s, c, 0, 0)), (1, 0, 0, 1, -x, -y))
    return found


def colour(text: str) -> str:
    """A colour as `#rrggbb` where it can be told, else as it is written."""
    text = text.strip().lower()
    if match := re.fullmatch(r"#([0-9a-f])([0-9a-f])([0-9a-f])", text):
        return "#" + "".join(c * 2 for c in match.groups())
    if match := re.fullmatch(r"rgb\(\s*(\d+)\s*,?\s*(\d+)\s*,?\s*(\d+)\s*\)", text):
        return "#" + "".join(f"{min(255, int(c[:9])):02x}" for c in match.groups())
    return _NAMED.get(text, text)


def sheet(root: Element) -> dict[str, dict[str, str]]:
    """Rules of the picture's style sheets for single classes, ids and element names."""
    found: dict[str, dict[str, str]] = {}
    for element in root.iter():
        if name_of(element) == "style":
            for selectors, body in _RULE.findall(
                re.sub(r"/\*.*?\*/", "", "".join(element.itertext()), flags=re.DOTALL)
            ):
                for selector in selectors.split(","):
                    found.setdefault(selector.strip(), {}).update(declared(body))
    return found


def declared(text: str | None) -> dict[str, str]:
    pairs = (d.partition(":") for d in (text or "").split(";"))
    return {k.strip().lower(): v.replace("!important", "").strip() for k, _, v in pairs if v.strip()}


def style_of(element: Element, inherited: Mapping[str, str], rules: Mapping[str, dict[str, str]]) -> dict[str, str]:
    own = {k: v for k, v in element.attrib.items() if k in INHERITED}
    keys = [name_of(element), *(f".{c}" for c in element.get("class", "").split()), f"#{element.get('id', '')}"]
    for key in keys:
        own.update(rules.get(key, {}))
    own.update(declared(element.get("style")))
    return {**inherited, **{k: v for k, v in own.items() if k in INHERITED}}


def invisible(style: Mapping[str, str]) -> bool:
    faint = any(first(style.get(k), 1.0) <= 0.05 for k in ("opacity", "fill-opacity"))
    return faint or style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse")


def elements(root: Element) -> Iterator[tuple[Element, Matrix, dict[str, str]]]:
    """Everything that is drawn, with its transformation and style."""
    rules = sheet(root)
    stack = [(root, UNIT, style_of(root, {"fill": "black"}, rules))]
    while stack:
        element, matrix, style = stack.pop()
        if invisible(style):
            continue
        yield element, matrix, style
        for child in reversed(list(element)):
            if name_of(child) not in HIDDEN and name_of(element) != "text":
                here = times(matrix, transform(child.get("transform")))
                stack.append((child, here, style_of(child, style, rules)))


def path_points(text: str) -> list[tuple[float, float]]:
    """The points that a path goes through; of curves and arcs only their ends."""
    sizes = {"M": 2, "L": 2, "T": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "A": 7}
    points: list[tuple[float, float]] = []
    x = y = 0.0
    for letter, inner in re.findall(r"([MLHVCSQTAZmlhvcsqtaz])([^MLHVCSQTAZmlhvcsqtaz]*)", text):
        kind, size = letter.upper(), sizes.get(letter.upper(), 0)
        n = numbers(inner)
        for at in range(0, len(n) - size + 1, size) if size else ():
            ends = n[at : at + size]
            base = (x, y) if letter.islower() else (0.0, 0.0)
            x = base[0] + ends[0] if kind == "H" else (x if kind == "V" else base[0] + ends[-2])
            y = base[1] + ends[0] if kind == "V" else (y if kind == "H" else base[1] + ends[-1])
            points.append((x, y))
    return points


def corners(element: Element) -> list[tuple[float, float]]:
    name = name_of(element)
    if name == "rect":
        x, y, w, h = (first(element.get(k)) for k in ("x", "y", "width", "height"))
        return [(x, y), (x + w, y), (x, y + h), (x + w, y + h)]
    if name == "path":
        return path_points(element.get("d", ""))
    if name in ("polygon", "polyline"):
        n = numbers(element.get("points"))
        return list(zip(n[::2], n[1::2], strict=False))
    return []


def boxes(root: Element) -> list[Box]:
    """Filled shapes with an area, as the boxes around them."""
    found = []
    for element, matrix, style in elements(root):
        points = [place(matrix, x, y) for x, y in corners(element)]
        if len(points) < 3:
            continue
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        box = Box(min(xs), min(ys), max(xs), max(ys), colour(style["fill"]))
        if box.width > 0.01 and box.height > 0.01:
            found.append(box)
    return found


def labels(root: Element) -> list[Label]:
    """Texts, each line (`tspan` with a place of its own) by itself."""
    found = []
    for element, matrix, _ in elements(root):
        if name_of(element) != "text":
            continue
        lines = [t for t in element.iter() if name_of(t) == "tspan" and t.get("x") is not None]
        for line in lines if len(lines) > 1 else [element]:
            at = next((e for e in (line, *line.iter()) if e.get("x") is not None), line)
            x, y = place(
                matrix, first(at.get("x"), first(element.get("x"))), first(at.get("y"), first(element.get("y")))
            )
            text = " ".join("".join(line.itertext()).split())
            if text:
                found.append(Label(text, x, y))
    return found


def size(root: Element) -> tuple[float, float]:
    """Width and height: of the view box, or of the attributes; zeros where neither says."""
    view = numbers(root.get("viewBox"))
    if len(view) == 4:
        return view[2], view[3]
    return first(root.get("width")), first(root.get("height"))
