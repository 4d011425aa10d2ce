"""Grades a vector logo by what it draws: filled shapes only, in place, in colour, and really open where it is open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from raster import SCALE, apart, colours, grown, layers
from shapes import Drawing, drawing

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Case, Check, Grade, every, gate_and_score, plain_text

NODES = 150
OFF = 0.35
"""Units that an outline may be off in the mean: 0.3, and what pixels add."""
AROUND = 3 * SCALE
"""Pixels around a shape in which its colour must not appear."""
COLOUR, MONO = "logo.svg", "logo-mono.svg"


@dataclass
class Logo:
    """The delivered drawings beside what they should be."""

    case: Case

    @cached_property
    def want(self) -> dict[str, Any]:
        want = self.case.ref_json("expected.json")
        if not isinstance(want, dict) or not {"box", "palette", "agreed", "probes", "title", "desc"} <= want.keys():
            raise ReferenceUnreadable("lacks some of box, palette, agreed, probes, title, desc", where="expected.json")
        return want

    def model(self, name: str) -> Drawing:
        root = self.case.ref_svg(name)
        try:
            return drawing(root)
        except DeliverableError as error:
            raise ReferenceUnreadable(str(error), where=name) from error

    @cached_property
    def right(self) -> Drawing:
        return self.model(COLOUR)

    @cached_property
    def drawn(self) -> Drawing:
        return drawing(self.case.svg(COLOUR))

    @cached_property
    def mono(self) -> Drawing:
        return drawing(self.case.svg(MONO))

    @cached_property
    def seen(self) -> np.ndarray:
        return colours(self.drawn)

    @cached_property
    def parts(self) -> dict[str, float]:
        """Each shape of the reference -> how far its outline is off in the delivery, in units."""
        top = layers(self.right)
        found = {}
        for place, shape in enumerate(self.right.shapes):
            area = top == place
            near = grown(area, AROUND)
            same = (self.seen == int(shape.fill[1:], 16)) & near
            others = np.isin(top, [n for n, s in enumerate(self.right.shapes) if s.fill == shape.fill and n != place])
            found[shape.name] = apart(same & ~others, area)
        return found


def readable(found: Drawing, want: dict[str, Any]) -> Check:
    box = list(found.box)
    return every(
        [
            Check.of(box == want["box"], f"the viewBox is {box}"),
            Check.of(not found.faults, f"a plotter cannot read {', '.join(found.faults[:5])}"),
            Check.of(bool(found.shapes), "it draws nothing"),
            Check.of(found.nodes <= NODES, f"{found.nodes} segments and corners, more than {NODES}"),
        ]
    )


def palette(logo: Logo) -> Check:
    wanted = {c.upper() for c in logo.want["palette"]}
    fills = {s.fill for s in logo.drawn.shapes}
    seen = {f"#{n:06X}" for n in np.unique(logo.seen).tolist() if n >= 0}
    return every(
        [
            Check.of(fills <= wanted, f"not on the sheet: {', '.join(sorted(fills - wanted))}"),
            Check.of(seen >= wanted, f"not to be seen: {', '.join(sorted(wanted - seen))}"),
        ]
    )


def shapes(logo: Logo) -> Check:
    """The share of the reference's shapes that are right."""
    off = {name: gap for name, gap in logo.parts.items() if gap > OFF}
    said = ", ".join(f"{name} (off by {gap:.1f})" for name, gap in off.items())
    return Check(1 - len(off) / len(logo.parts), said)


def agreed(logo: Logo) -> Check:
    """Shapes that the comments changed, and points that tell done from not done."""
    checks = [
        Check.of(logo.parts[name] <= OFF, f"{name} is off by {logo.parts[name]:.1f}") for name in logo.want["agreed"]
    ]
    for probe in logo.want["probes"]:
        x, y = probe["at"]
        colour = int(logo.seen[round((y - logo.want["box"][1]) * SCALE), round((x - logo.want["box"][0]) * SCALE)])
        seen = f"#{colour:06X}" if colour >= 0 else "none"
        checks.append(Check.of(seen == probe["colour"].upper() or seen == probe["colour"], f"{probe['about']}: {seen}"))
    return every(checks)


def mono(logo: Logo) -> Check:
    found = logo.mono
    fills = {s.fill for s in found.shapes}
    model = logo.model(MONO)
    checks = [readable(found, logo.want), Check.of(fills == {"#000000"}, f"fills: {', '.join(sorted(fills))}")]
    if all(c.passed for c in checks):
        gap = apart(layers(found) >= 0, layers(model) >= 0)
        checks.append(Check.of(gap <= OFF, f"the black areas are off by {gap:.1f}"))
    return every(checks)


def names(logo: Logo) -> Check:
    checks = []
    for name, found in ((COLOUR, logo.drawn), (MONO, logo.mono)):
        right = all(plain_text(getattr(found, k)) == plain_text(logo.want[k]) for k in ("title", "desc"))
        checks.append(
            Check.of(right and bool(found.shapes), f"{name}: title {found.title!r:.80}, desc {found.desc!r:.80}")
        )
    return every(checks)


def grade(case: Case) -> Grade:
    logo = Logo(case)
    _ = logo.want, logo.right, logo.model(MONO)
    return gate_and_score(
        case,
        gates={"vector": lambda: readable(logo.drawn, logo.want)},
        score={
            "palette": lambda: palette(logo),
            "shapes": lambda: shapes(logo),
            "agreed": lambda: agreed(logo),
            "mono": lambda: mono(logo),
            "names": lambda: names(logo),
        },
    )
