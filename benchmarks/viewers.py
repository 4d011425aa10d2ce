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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from app.round.driving import serving
from app.viewers.showing import Panes, address, chrome, gathered, opened, prepared
from viewing import material
from worksample.records import EntryKind, Manifest
from worksample.store import Store

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
Times = dict[str, list[float]]


def milliseconds(pane: Panes, path: str) -> float:
    """Ask for a file and wait until it stands."""
    pane.tell(type="show", content=pane.content, path=[path], theme="light", pane="AD-1")
    said = pane.until("() => window.told.find(m => m.type === 'shown')", seconds=60)
    return float(said["ms"])


def floor(pane: Panes, turn: int) -> float:
    found: float = pane.frame.evaluate(FLOOR, f"{pane.content}/.worksample/original?path={PIXEL}&turn={turn}")
    return found


def one_round(store: Store, manifest: Manifest, paths: list[str], times: tuple[Times, Times, list[float]]) -> None:
    cold, warm, floors = times
    label = address(store, manifest.digest)
    with serving(store) as served, chrome() as browser:
        for turn, path in enumerate(paths):
            pane = opened(browser, served.config, label)
            floors.append(floor(pane, turn))
            cold.setdefault(path, []).append(milliseconds(pane, path))
            milliseconds(pane, PIXEL)
            warm.setdefault(path, []).append(milliseconds(pane, path))
            pane.page.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="paths that hold this")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scratch").mkdir()
        store = Store.open(folder / "store", create=True)
        files = {path: data for path, data in gathered(folder / "scratch").items() if asked.only in path}
        files[PIXEL] = material.picture("PNG", size=(1, 1))
        manifest = material.take(store, folder / "files", files)
        views = prepared(store, manifest)
        kept = [e.path for e in manifest.entries if e.kind is EntryKind.FILE and asked.only in e.path]
        times: tuple[Times, Times, list[float]] = ({}, {}, [])
        for _ in range(asked.rounds):
            one_round(store, manifest, kept, times)
        store.close()
    cold, warm, floors = times
    print(f"{'file':<28}{'kind':<10}{'cold ms':>8}{'warm ms':>9}")
    print(f"{'<img> of one pixel':<28}{'floor':<10}{'':>8}{statistics.median(floors):>9.0f}")
    for path in sorted(cold, key=lambda p: (views[p].kind, p)):
        row = (statistics.median(cold[path]), statistics.median(warm[path]))
        print(f"{path:<28}{views[path].kind:<10}{row[0]:>8.0f}{row[1]:>9.0f}")


if __name__ == "__main__":
    main()
