"""Geometric and spatial values (ALE C.3.2): 3D meshes, compared by volume, size and distance between the surfaces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import Cause, GraderError
from worksample.kit.check_score import Check, average
from worksample.kit.mesh import Mesh
from worksample.kit.mesh import read_stl as _read_stl
from worksample.kit.numbers import close
from worksample.kit.source import deliverable, reference

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Mesh", "geometric", "read_stl", "surface"]


def read_stl(path: Path) -> Mesh:
    """Read a deliverable's mesh. Raises DeliverableError if the file is not a valid STL file or its mesh has no
    area.
    """
    with deliverable(path.name):
        return _read_stl(path)


def _both(got: Path | Mesh, want: Path | Mesh) -> tuple[Mesh, Mesh]:
    if isinstance(want, Path):
        with reference(want.name):
            want = _read_stl(want)
    return (read_stl(got) if isinstance(got, Path) else got), want


def geometric(
    got: Path | Mesh, want: Path | Mesh, *, volume: float = 0.01, size: float = 0.01, watertight: bool = True
) -> Check:
    """Compare two meshes and return the mean of up to three checks: volume, size of the bounding box along each axis,
    and watertightness.

    volume, size: allowed deviation, as a share of the reference's value (0.01 is 1 %). watertight: whether the
    deliverable's mesh must be closed; if false, that check is left out.
    """
    mine, theirs = _both(got, want)
    checks = [_near("volume", mine.volume, theirs.volume, volume)]
    lengths = zip("xyz", mine.size.tolist(), theirs.size.tolist(), strict=True)
    checks.append(average(_near(f"length along {axis}", a, b, size) for axis, a, b in lengths))
    if watertight:
        closed = mine.watertight
        checks.append(Check.of(closed, "" if closed else "the mesh is not watertight"))
    return average(checks)


def _near(what: str, got: float, want: float, relative: float) -> Check:
    good = close(got, want, 0.0, relative)
    return Check.of(good, "" if good else f"{what} {got:.6g} instead of {want:.6g}")


def surface(got: Path | Mesh, want: Path | Mesh, bands: Mapping[float, float], *, samples: int = 5_000) -> Check:
    """Return the share of each surface that lies near the other surface, weighted by distance.

    bands: distance -> weight, as in ALE C.3.3, such as `{0.3: 0.7, 2.0: 0.3}`. Distances are in the file's unit of
    length. For each distance, the share of the deliverable's points near the reference and the share of the reference's
    points near the deliverable are measured. The smaller share counts, so that both missing and extra parts lose
    points.

    samples: number of random points on each surface. Distances are measured to the nearest of `4 * samples` points of
    the other surface. A measured distance is too long by about the spacing of these points.
    """
    import numpy as np

    total = math.fsum(bands.values())
    if not bands or not total > 0 or min(bands) <= 0:
        raise GraderError(
            "bands need distances and weights above 0",
            cause=Cause.GRADER_CRASH,
            next="pass distance -> weight, such as {0.3: 0.7, 2.0: 0.3}",
        )
    mine, theirs = _both(got, want)
    there = nearest(mine.sample(samples, 1), theirs.sample(4 * samples, 2))
    back = nearest(theirs.sample(samples, 1), mine.sample(4 * samples, 2))
    shares = {d: min(float(np.mean(there <= d)), float(np.mean(back <= d))) for d in bands}
    score = math.fsum(weight * shares[d] for d, weight in bands.items()) / total
    return Check(score, ", ".join(f"{share:.1%} within {d:g}" for d, share in shares.items()))


def nearest(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the distance from each of `points` (shape (n, 3)) to the nearest of `others` (shape (m, 3)). The result
    has the shape (n,).
    """
    import numpy as np

    middle = others.mean(axis=0)
    points, others = points - middle, others - middle
    square = (others**2).sum(axis=1)
    found = np.empty(len(points))
    for start in range(0, len(points), 500):
        block = points[start : start + 500]
        gaps = (block**2).sum(axis=1)[:, None] - 2 * block @ others.T + square
        found[start : start + 500] = np.sqrt(np.maximum(gaps.min(axis=1), 0))
    return found
