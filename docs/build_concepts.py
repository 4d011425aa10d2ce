"""Draw docs/images/concepts.svg, the picture of the concepts. `--check` fails where it is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "images" / "concepts.svg"
WIDTH, HEIGHT = 980, 540
STYLE = """
text { font: 14px system-ui, "Liberation Sans", sans-serif; fill: #1c2326; }
.name { font-weight: 700; } .says { fill: #5c6a70; font-size: 12.5px; } .band { font-size: 12.5px; fill: #00695c; }
.box { fill: #fff; stroke: #00796b; stroke-width: 1.4; }
.arrow { stroke: #37474f; stroke-width: 1.4; fill: none; marker-end: url(#head); } .tip { fill: #37474f; }
.paper { fill: #fff; }
@media (prefers-color-scheme: dark) {
text { fill: #e4eaec; } .says { fill: #9aa8ae; } .band { fill: #4db6ac; } .box { fill: #1c2326; stroke: #4db6ac; }
.arrow { stroke: #cfd8dc; } .tip { fill: #cfd8dc; } .paper { fill: #14191b; }
}
"""


@dataclass(frozen=True)
class Box:
    """A concept: its name, what it is, and where it stands."""

    name: str
    says: tuple[str, ...]
    x: int
    y: int
    width: int = 200
    height: int = 84


BOXES = (
    Box("task", ("a folder: brief, inputs,", "reference, grader"), 20, 50),
    Box("instance", ("one named case of a task;", "a suite is a list of them"), 260, 50),
    Box("agent", ("harness, model, settings",), 20, 170),
    Box("experiment", ("instances × agents × arms ×", "repeats, locked before it runs"), 500, 50, 220),
    Box("slot", ("one of these combinations;", "gets one finished trial"), 760, 50),
    Box("trial", ("the work on it, in a sandbox,", "until done or at a limit"), 760, 230),
    Box("submission", ("deliverables and transcript,", "never changed afterwards"), 500, 230, 220),
    Box("round", ("one grading of submissions", "under one protocol"), 260, 290),
    Box("evaluation", ("what a program, a judge model", "or a person said in it"), 260, 420, 220),
    Box("verdict", ("what the evaluations come to:", "passed, score, or ungraded"), 520, 420, 220),
    Box("report", ("rates with intervals, costs,", "every count beside them"), 780, 420, 180),
)
ARROWS = (
    "M220 92 H254", "M460 92 H494", "M220 196 H610 V140", "M720 92 H754", "M860 134 V224", "M760 272 H726",
    "M500 272 H400 V284", "M360 374 V414", "M480 462 H514", "M740 462 H774",
)  # fmt: skip
BANDS = (("planned", 20, 34), ("worked", 500, 218), ("judged", 260, 278), ("measured", 520, 408))


def picture() -> str:
    """The SVG."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="From task to report: the concepts and how they lead to each other">'
    )
    yield f"<style>{STYLE}</style>"
    yield (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    yield f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>'
    for path in ARROWS:
        yield f'<path class="arrow" d="{path}"/>'
    for box in BOXES:
        yield f'<rect class="box" x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="7"/>'
        yield f'<text class="name" x="{box.x + 12}" y="{box.y + 26}">{escape(box.name)}</text>'
        for place, line in enumerate(box.says):
            yield f'<text class="says" x="{box.x + 12}" y="{box.y + 47 + 18 * place}">{escape(line)}</text>'
    for says, x, y in BANDS:
        yield f'<text class="band" x="{x}" y="{y}">{says}</text>'
    yield "</svg>"


def main() -> int:
    """Write the picture, or with `--check` compare it."""
    text = picture()
    if "--check" in sys.argv:
        if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{PICTURE} is stale\n  next: python docs/build_concepts.py\n")
            return 1
        return 0
    PICTURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
