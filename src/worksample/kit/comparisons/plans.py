"""Line drawings: DXF plans and SVG paths, compared by points on their lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.kit.check_score import Check
from worksample.kit.markup import read_svg
from worksample.kit.numbers import plain_text
from worksample.kit.reader_process import ReaderLimits, Reading, read_apart
from worksample.kit.source import UnreadableSource

from .bands import Bands, compare_artifacts, in_bands
from .geometric import nearest

if TYPE_CHECKING:
    import numpy as np

EXTRA = "graders-drawing"
SEGMENT_LIMIT = 200_000
_DXF = "worksample.kit.comparisons.plans:dxf_segments"
_SVG = "worksample.kit.comparisons.plans:svg_segments"
_LIMITS = ReaderLimits(seconds=30, memory=1 << 30, file=32 << 20)
Lines = dict[str, "np.ndarray"]
"""Layer -> segments, with the shape (segments, 2 ends, 3 coordinates)."""


def plan(
    got: Path, want: Path, bands: Bands, *, layers: Sequence[str] = (), by_layer: bool = True,
    trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the share of the lines of two drawings that lie near each other, in bands of distance.

    Reads `.dxf` (lines, polylines, arcs, circles, splines, inserted blocks) and `.svg` (paths and shapes). The smaller
    of both directions counts. layers: the layers of a DXF to compare, by default those of the reference. by_layer:
    whether a line on another layer is wrong; layers weigh as their lines are long. The outline of the bounding box
    scores 0. Raises DeliverableError if the deliverable is malformed; ReferenceUnreadable if the reference is.
    """
    chosen = [plain_text(name) for name in layers]

    def measure(mine: Lines, theirs: Lines) -> Check:
        a, b = (mine, theirs) if by_layer else (_join_lines(mine), _join_lines(theirs))
        names = [name for name in (chosen if by_layer and chosen else b) if name in b]
        if not names:
            return Check(0.0, "the reference has no such layer")
        return _weighted_check([(name, lines_near(a.get(name), b[name], bands, name)) for name in names], b)

    return compare_artifacts(got, want, read_lines, measure, trivial=trivial, fillers=outlines)


def _join_lines(lines: Lines) -> Lines:
    import numpy as np

    return {"": np.concatenate(list(lines.values()))} if lines else {}


def _weighted_check(checks: Sequence[tuple[str, Check]], theirs: Lines) -> Check:
    weight = {name: max(float(_lengths(theirs[name]).sum()), 1e-12) for name, _ in checks}
    score = math.fsum(weight[name] * check.fraction for name, check in checks) / math.fsum(weight.values())
    return Check(min(1.0, score), "; ".join(check.reason for _, check in checks if check.reason))


def lines_near(mine: np.ndarray | None, theirs: np.ndarray, bands: Bands, name: str) -> Check:
    """Return the share of two sets of segments that lie near each other, the smaller of both directions. name: their
    layer, for the reason.
    """
    what = f"lines on layer {name!r}" if name else "lines"
    if mine is None or not len(mine):
        return Check(0.0, f"no {what}")
    a, b = points_on(mine), points_on(theirs)
    there, back = in_bands(nearest(a, b), bands, what), in_bands(nearest(b, a), bands, f"the reference's {what}")
    return min(there, back, key=lambda check: check.fraction)


def _lengths(segments: np.ndarray) -> np.ndarray:
    import numpy as np

    found: np.ndarray = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    return found


def points_on(segments: np.ndarray, count: int = 4_000) -> np.ndarray:
    """Return `count` points spaced evenly along segments, with the shape (count, 3)."""
    import numpy as np

    lengths = _lengths(segments)
    ends = np.cumsum(lengths)
    if not ends[-1] > 0:
        found: np.ndarray = segments[:, 0]
        return found
    at = (np.arange(count) + 0.5) / count * ends[-1]
    index = np.minimum(np.searchsorted(ends, at), len(segments) - 1)
    part = (at - (ends[index] - lengths[index])) / np.maximum(lengths[index], 1e-300)
    placed: np.ndarray = segments[index, 0] + part[:, None] * (segments[index, 1] - segments[index, 0])
    return placed


def outlines(theirs: Lines) -> Iterable[Lines]:
    """Yield the outline of the bounding box, on every layer: a filler of the right size."""
    import numpy as np

    everything = np.concatenate(list(theirs.values())).reshape(-1, 3)
    (x, y, z), (u, v, _) = everything.min(axis=0), everything.max(axis=0)
    corners = np.array([[x, y, z], [u, y, z], [u, v, z], [x, v, z]])
    box = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    yield dict.fromkeys(theirs, box)


def read_lines(path: Path) -> Lines:
    """Read the lines of a `.dxf` or `.svg` file. Raises UnreadableSource if it is malformed, has no lines, or exceeds a
    limit.
    """
    import numpy as np

    ending = path.suffix.lower()
    if ending == ".svg":
        read_svg(path)  # entities, depth and size are checked before the drawing library sees the file
        found = read_apart(_SVG, path, extra=EXTRA, limits=_LIMITS)
    elif ending == ".dxf":
        found = read_apart(_DXF, path, extra=EXTRA, limits=_LIMITS)
    else:
        raise UnreadableSource("is neither .dxf nor .svg")
    lines = {name: found.arrays[f"a{i}"] for i, name in enumerate(found.facts["layers"])}
    for segments in lines.values():
        if not np.isfinite(segments).all() or np.abs(segments).max() > 1e9:
            raise UnreadableSource("has coordinates that are infinite, NaN or beyond 1e9")
    if not lines:
        raise UnreadableSource("has no lines")
    return lines


def _reading(layers: Mapping[str, list[list[tuple[float, float, float]]]]) -> Reading:
    import numpy as np

    named = {name: segments for name, segments in layers.items() if segments}
    arrays = {f"a{i}": np.array(segments, dtype="f8") for i, segments in enumerate(named.values())}
    return Reading({"layers": list(named)}, arrays)


def dxf_segments(path: Path) -> Reading:
    """Return a DXF's segments by layer. Runs in a reader process; drawings that it refers to are not opened."""
    import ezdxf.filemanagement
    from ezdxf.disassemble import recursive_decompose
    from ezdxf.path import make_path

    layers: dict[str, list[list[tuple[float, float, float]]]] = {}
    count = 0
    for number, entity in enumerate(recursive_decompose(ezdxf.filemanagement.readfile(path).modelspace())):
        if number > SEGMENT_LIMIT:
            raise UnreadableSource(f"has more than {SEGMENT_LIMIT:,} entities")
        try:
            shape = make_path(entity)
        except TypeError:  # texts, dimensions, points: no lines
            continue
        ends = [tuple(map(float, v)) for v in shape.flattening(0.01, segments=8)]
        count += len(ends)
        if count > SEGMENT_LIMIT:
            raise UnreadableSource(f"has more than {SEGMENT_LIMIT:,} segments")
        held = layers.setdefault(plain_text(entity.dxf.get("layer", "0")), [])
        held += [[a, b] for a, b in pairwise(ends)]  # type: ignore[list-item]
    return _reading(layers)


def svg_segments(path: Path) -> Reading:
    """Return the segments of an SVG's visible shapes, in user units. Runs in a reader process."""
    import svgelements

    segments: list[list[tuple[float, float, float]]] = []
    for element in svgelements.SVG.parse(str(path)).elements():
        if not isinstance(element, svgelements.Shape) or element.values.get("visibility") == "hidden":
            continue
        shape = svgelements.Path(element)
        for segment in shape.segments(transformed=True):
            if segment.start is None or segment.end is None or isinstance(segment, svgelements.Move):
                continue
            steps = 1 if isinstance(segment, (svgelements.Line, svgelements.Close)) else 16
            ends = [(float(p.x), float(p.y), 0.0) for p in (segment.point(i / steps) for i in range(steps + 1))]
            segments += [[a, b] for a, b in pairwise(ends)]
            if len(segments) > SEGMENT_LIMIT:
                raise UnreadableSource(f"has more than {SEGMENT_LIMIT:,} segments")
    return _reading({"": segments})
