"""Grades a printed part by its mesh: closed, in place, of the right size, with material and holes where they belong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Case, Check, Grade, Mesh, close, every, gate_and_score, plain_text, read_stl

PLACE = 0.1
"""Millimetres that sizes and positions may be off."""
MARGIN = 0.15
"""Millimetres from a hole's rim at which a probe stands: the allowance for position and for facets."""
VOLUME = 0.005
TRIANGLES = 100_000
AXES = {"x": (1, 2, 0), "z": (0, 1, 2)}
"""Direction of a hole -> coordinates in its plane, and along it."""


@dataclass
class Part:
    """The delivered part beside what it should be."""

    case: Case

    @cached_property
    def want(self) -> dict[str, Any]:
        want = self.case.ref_json("expected.json")
        if (
            not isinstance(want, dict)
            or not {"box", "volume", "mass", "material", "holes", "solid", "void"} <= want.keys()
        ):
            raise ReferenceUnreadable(
                "lacks some of box, volume, mass, material, holes, solid, void", where="expected.json"
            )
        return want

    @cached_property
    def mesh(self) -> Mesh:
        mesh = read_stl(self.case.output("bracket.stl"))
        if len(mesh.triangles) > TRIANGLES:
            raise DeliverableError(f"has more than {TRIANGLES:,} triangles", where="bracket.stl")
        return mesh

    def inside(self, points: Any) -> np.ndarray:
        """Which of the points (n, 3) lie in the material: those that the surface winds around."""
        points = np.asarray(points, float)
        return np.concatenate(
            [_winding(self.mesh.triangles, block) > 0.5 for block in np.array_split(points, 1 + len(points) // 16)]
        )


def _winding(triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Winding numbers of points (n, 3) by the solid angles of all triangles (van Oosterom and Strackee, 1983)."""
    a, b, c = (triangles[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    top = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    dots = [np.einsum("ijk,ijk->ij", u, v) for u, v in ((a, b), (b, c), (c, a))]
    bottom = la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb
    found: np.ndarray = 2 * np.arctan2(top, bottom).sum(axis=1) / (4 * math.pi)
    return found


def closed(part: Part) -> Check:
    """A watertight mesh that is turned outwards."""
    t = part.mesh.triangles
    turned = float(np.einsum("ij,ij->i", t[:, 0], np.cross(t[:, 1], t[:, 2])).sum())
    return every(
        [
            Check.of(part.mesh.watertight, "the mesh is not watertight"),
            Check.of(turned > 0, "the mesh is turned inside out"),
        ]
    )


def size(part: Part) -> Check:
    low, high, box = part.mesh.low.tolist(), part.mesh.high.tolist(), part.want["box"]
    off = max(abs(v) for v in (*low, *(h - b for h, b in zip(high, box, strict=True))))
    said = f"from {[round(v, 2) for v in low]} to {[round(v, 2) for v in high]}, not to {box}"
    right = off <= PLACE + 1e-4
    return Check.of(right, "" if right else said)


def volume(part: Part) -> Check:
    got, want = part.mesh.volume, part.want["volume"]
    right = close(got, want, 0.0, VOLUME)
    return Check.of(right, "" if right else f"the volume is {got:.0f} mm3, {100 * (got / want - 1):+.1f} %")


def rim(hole: dict[str, Any], grow: float) -> list[tuple[float, float]]:
    """Points on a hole's outline moved outwards by `grow` mm, in the hole's plane."""
    x, y = hole["at"]
    r = hole["width"] / 2 + grow
    half = (hole["length"] - hole["width"]) / 2
    turns = [2 * math.pi * (k + 0.5) / 16 for k in range(16)]
    return [(x + math.copysign(half, math.cos(t)) + r * math.cos(t), y + r * math.sin(t)) for t in turns]


def hole(part: Part, one: dict[str, Any]) -> bool:
    """Whether a hole is empty up to its rim and the material begins right behind it, at three depths."""
    across, up, along = AXES[one["axis"]]
    depths = [one["from"] + 0.3, (one["from"] + one["to"]) / 2, one["to"] - 0.3]

    def lifted(points: list[tuple[float, float]]) -> np.ndarray:
        found = np.zeros((len(points) * len(depths), 3))
        found[:, [across, up]] = points * len(depths)
        found[:, along] = np.repeat(depths, len(points))
        return found

    if not part.inside(lifted(rim(one, MARGIN))).all():
        return False
    return not part.inside(lifted([*rim(one, -MARGIN), tuple(one["at"])])).any()


def holes(part: Part) -> Check:
    """The share of holes and slots that are right."""
    wrong = [one["name"] for one in part.want["holes"] if not hole(part, one)]
    total = len(part.want["holes"])
    return Check((total - len(wrong)) / total, f"wrong: {', '.join(wrong)}" if wrong else "")


def body(part: Part) -> Check:
    """Material and air at the probes."""
    checks = []
    for kind, filled in (("solid", True), ("void", False)):
        probes = part.want[kind]
        found = part.inside([p["at"] for p in probes])
        checks += [
            Check.of(bool(is_in) == filled, f"{'nothing' if filled else 'material'} at {p['at']}: {p['name']}")
            for p, is_in in zip(probes, found, strict=True)
        ]
    return every(checks)


def figures(part: Part) -> Check:
    """The numbers in part.json."""
    got, want = part.case.json("part.json"), part.want
    if not isinstance(got, dict):
        raise DeliverableError("is no JSON object", where="part.json")
    allowed = part.case.setting("tolerance")
    box = got.get("bounding_box_mm")
    lengths = box if isinstance(box, list) and len(box) == 3 else [None] * 3

    def near(value: Any, wanted: float, name: str) -> bool:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and close(value, wanted, allowed[name])

    return every(
        [
            Check.of(
                near(got.get("volume_mm3"), want["volume"], "volume_mm3"), f"volume_mm3: {got.get('volume_mm3')!r:.40}"
            ),
            Check.of(near(got.get("mass_g"), want["mass"], "mass_g"), f"mass_g: {got.get('mass_g')!r:.40}"),
            Check.of(
                all(near(a, b, "bounding_box_mm") for a, b in zip(lengths, want["box"], strict=True)),
                f"bounding_box_mm: {box!r:.60}",
            ),
            Check.of(plain_text(got.get("material")) in want["material"], f"material: {got.get('material')!r:.60}"),
        ]
    )


def grade(case: Case) -> Grade:
    part = Part(case)
    _ = part.want
    return gate_and_score(
        case,
        gates={"closed": lambda: closed(part)},
        score={
            "size": lambda: size(part),
            "volume": lambda: volume(part),
            "holes": lambda: holes(part),
            "body": lambda: body(part),
            "figures": lambda: figures(part),
        },
    )
