"""How long a deliverable takes from the click to its picture, for each format, beside a floor, in one run.

    python benchmarks/viewers.py [--rounds 5] [--only text/]

Milliseconds as the viewer itself counts them, medians: from the message that asks for a file to the first picture
of it. Views are made before, as the server does in the background. Cold: nothing of the viewer was loaded before but
its empty frame. Warm: the same file again after another one. The floor: an `<img>` of one pixel from the same address
in the same frame, from setting its address to the next picture. All are taken in turn within each round.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from app.round.driving import chromium, serving
from app.viewers.showing import AUTOPLAY, Panes, gathered, panes
from app.viewers.stock import Folder, Stock
from viewing import material

PIXEL = "pixel.png"
FLOOR = """async address => {
  const began = performance.now();
  const image = new Image();
  image.src = address;
  await image.decode();
  document.body.append(image);
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  image.remove();
  return performance.now() - began;
}"""


@dataclass
class Times:
    """Milliseconds by path."""

    cold: dict[str, list[float]] = field(default_factory=dict)
    warm: dict[str, list[float]] = field(default_factory=dict)
    floors: list[float] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)


def milliseconds(pane: Panes, path: str) -> tuple[float, str]:
    """Ask for a file and wait until it stands; with the kind of its view."""
    pane.tell(type="show", content=pane.content, path=[path], theme="light", pane="AD-1")
    said = pane.until("() => window.told.find(m => m.type === 'shown')", seconds=60)
    return float(said["ms"]), str(said["kind"])


def floor(pane: Panes, turn: int) -> float:
    found: float = pane.frame.evaluate(FLOOR, f"{pane.content}/.worksample/original?path={PIXEL}&turn={turn}")
    return found


def one_round(stock: Stock, folder: Folder, paths: list[str], times: Times) -> None:
    with serving(stock.store) as served, chromium(AUTOPLAY) as browser:
        for turn, path in enumerate(paths):
            with panes(browser, served.config, folder) as pane:
                times.floors.append(floor(pane, turn))
                cold, times.kinds[path] = milliseconds(pane, path)
                times.cold.setdefault(path, []).append(cold)
                milliseconds(pane, PIXEL)
                times.warm.setdefault(path, []).append(milliseconds(pane, path)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="paths that hold this")
    asked = parser.parse_args()

    def files(scratch: Path) -> dict[str, bytes | str]:
        found = {path: data for path, data in gathered(scratch).items() if asked.only in path}
        return {**found, PIXEL: material.picture("PNG", size=(1, 1))}

    times = Times()
    with tempfile.TemporaryDirectory() as name, Stock.opened(Path(name) / "stock") as stock:
        folder = stock.folder("files", files)
        paths = [entry.path for entry in folder.manifest.files if asked.only in entry.path]
        for path in paths:
            folder.ready(path)
        for _ in range(asked.rounds):
            one_round(stock, folder, paths, times)
    print(f"{'file':<28}{'kind':<10}{'cold ms':>8}{'warm ms':>9}")
    print(f"{'<img> of one pixel':<28}{'floor':<10}{'':>8}{statistics.median(times.floors):>9.0f}")
    for path in sorted(paths, key=lambda path: (times.kinds[path], path)):
        cold, warm = statistics.median(times.cold[path]), statistics.median(times.warm[path])
        print(f"{path:<28}{times.kinds[path]:<10}{cold:>8.0f}{warm:>9.0f}")


if __name__ == "__main__":
    main()
