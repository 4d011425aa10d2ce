"""Solids and point clouds (ALE C.3.2): OBJ, PLY, GLB, STL and STEP as triangles, compared by distance in bands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.kit.check_score import Check, average
from worksample.kit.mesh import STL_LIMIT, TRIANGLE_LIMIT, Mesh, read_stl
from worksample.kit.reader_process import ReaderLimits, Reading, read_apart
from worksample.kit.source import UnreadableSource, read_bytes

from .bands import Bands, compare_artifacts, in_bands
from .geometric import geometric, nearest, surface

if TYPE_CHECKING:
    import numpy as np

EXTRA = "graders-mesh"
POINT_LIMIT = 1_000_000
_READ = "worksample.kit.comparisons.solids:triangles_of"
_READ_POINTS = "worksample.kit.comparisons.solids:points_of"
_LIMITS = ReaderLimits(seconds=60, memory=2 << 30, file=STL_LIMIT)
FORMATS = (".obj", ".ply", ".glb", ".stl", ".step", ".stp")


def solid(
    got: Path, want: Path, bands: Bands, *, volume: float = 0.01, size: float = 0.01, watertight: bool = True,
    against_box: bool = True, trivial: Sequence[Path] = (), samples: int = 5_000,
) -> Check:  # fmt: skip
    """Return the similarity of two solids: half the share of the surface in each band of distance (`surface`), half the
    checks of volume, size and watertightness (`geometric`).

    Reads OBJ, PLY, GLB, STL and STEP; a file's content must be what its ending says. Distances are in the files' unit
    of length; STEP is read in millimetres. against_box: whether the bounding box of the reference scores 0. trivial:
    files that must score 0. Files that a model refers to, such as textures, are never opened.

    Raises DeliverableError if the deliverable is malformed; ReferenceUnreadable if the reference is, or is itself a box
    while `against_box` is true.
    """

    def measure(mine: Mesh, theirs: Mesh) -> Check:
        return average([
            surface(mine, theirs, bands, samples=samples),
            geometric(mine, theirs, volume=volume, size=size, watertight=watertight),
        ])  # fmt: skip

    return compare_artifacts(
        got, want, read_solid, measure, trivial=trivial, fillers=(lambda m: [_box(m)]) if against_box else None
    )


def _box(mesh: Mesh) -> Mesh:
    """Return the bounding box of a mesh: a filler of the right size."""
    import numpy as np

    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * mesh.size + mesh.low
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
             [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]  # fmt: skip
    return Mesh(corners[np.array(faces)])


def read_solid(path: Path) -> Mesh:
    """Read a solid's triangles. Raises UnreadableSource if the ending is not in `FORMATS`, the content is another
    format, there are no triangles with an area, or a limit is exceeded.
    """
    import numpy as np

    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise UnreadableSource(f"is no {', '.join(FORMATS)}")
    if ending == ".stl":
        return read_stl(path)
    _require_content(path, ending)
    found = read_apart(_READ, path, extra=EXTRA, limits=_LIMITS).arrays["triangles"]
    if not len(found):
        raise UnreadableSource("has no triangles")
    if not np.isfinite(found).all() or np.abs(found).max() > 1e12:
        raise UnreadableSource("has coordinates that are infinite, NaN or beyond 1e12")
    mesh = Mesh(found)
    if mesh.area <= 0:
        raise UnreadableSource("has only triangles without area")
    return mesh


def _require_content(path: Path, ending: str) -> None:
    with path.open("rb") as file:
        head = file.read(64).lstrip()
    starts = {".ply": (b"ply",), ".glb": (b"glTF",), ".step": (b"ISO-10303-21",), ".stp": (b"ISO-10303-21",)}
    if ending in starts and not head.startswith(starts[ending]):
        raise UnreadableSource(f"is not what its ending {ending} says")
    if ending == ".obj" and (b"\0" in head or head.lower().startswith((b"ply", b"solid", b"gltf", b"iso-"))):
        raise UnreadableSource("is not what its ending .obj says")


def triangles_of(path: Path) -> Reading:
    """Return a file's triangles in the array `triangles`. Runs in a reader process."""
    import trimesh

    data, ending = read_bytes(path, STL_LIMIT), path.suffix.lower().lstrip(".")
    if ending in ("step", "stp"):
        import cascadio

        # Metres in GLB; a deflection of 0.01 mm.
        data, ending = cascadio.load(data, file_type="step", tol_linear=0.01, tol_angular=0.2), "glb"
        scale = 1000.0
    else:
        scale = 1.0
    scene = trimesh.load_scene(BytesIO(data), file_type=ending, resolver=None, process=False, skip_materials=True)
    faces = sum(len(getattr(each, "faces", ())) for each in scene.geometry.values())
    if faces > TRIANGLE_LIMIT or len(scene.graph.nodes) > 50_000:
        raise UnreadableSource(f"has more than {TRIANGLE_LIMIT:,} triangles or 50,000 nodes")
    used = sum(len(getattr(scene.geometry[scene.graph[n][1]], "vertices", ())) for n in scene.graph.nodes_geometry)
    if used > 3 * TRIANGLE_LIMIT:
        raise UnreadableSource(f"has more than {3 * TRIANGLE_LIMIT:,} corners, copies included")
    mesh = scene.to_mesh()
    if len(mesh.faces) > TRIANGLE_LIMIT:
        raise UnreadableSource(f"has more than {TRIANGLE_LIMIT:,} triangles")
    return Reading(arrays={"triangles": mesh.triangles.astype("f8") * scale})


def points(got: Path, want: Path, bands: Bands, *, trivial: Sequence[Path] = ()) -> Check:
    """Return the share of two point clouds that lie near each other, in bands of distance. The smaller of both
    directions counts, so that missing and extra points lose.

    Reads PLY, and text with one point per line (`.xyz`, `.csv`, `.txt`). A cloud of one point, and one that fills the
    bounding box evenly, score 0. Raises DeliverableError if the deliverable is malformed or has more than 1,000,000
    points; ReferenceUnreadable if the reference is.
    """

    def measure(mine: np.ndarray, theirs: np.ndarray) -> Check:
        a, b = _thin_out(mine), _thin_out(theirs)
        there = in_bands(nearest(a, b), bands, "the points")
        back = in_bands(nearest(b, a), bands, "the reference's points")
        return min(there, back, key=lambda check: check.fraction)

    return compare_artifacts(got, want, read_points, measure, trivial=trivial, fillers=_clouds)


def _thin_out(cloud: np.ndarray, most: int = 8_000) -> np.ndarray:
    """Return every n-th point, so that at most `most` are compared."""
    return cloud[:: max(1, -(-len(cloud) // most))]


def _clouds(theirs: np.ndarray) -> Iterable[np.ndarray]:
    import numpy as np

    low, high = theirs.min(axis=0), theirs.max(axis=0)
    yield theirs.mean(axis=0, keepdims=True)
    yield np.random.default_rng(0).uniform(low, high, (min(len(theirs), 8_000), 3))


def read_points(path: Path) -> np.ndarray:
    """Read a point cloud with the shape (points, 3). Raises UnreadableSource if it is malformed or too large."""
    import numpy as np

    ending = path.suffix.lower()
    if ending not in (".ply", ".xyz", ".csv", ".txt"):
        raise UnreadableSource("is no .ply, .xyz, .csv, .txt")
    if ending == ".ply":
        _require_content(path, ending)
    found = read_apart(_READ_POINTS, path, extra=EXTRA, limits=_LIMITS).arrays["points"]
    if not len(found) or not np.isfinite(found).all() or np.abs(found).max() > 1e12:
        raise UnreadableSource("has no points, or coordinates that are infinite, NaN or beyond 1e12")
    return found


def points_of(path: Path) -> Reading:
    """Return a file's points in the array `points`. Runs in a reader process."""
    import numpy as np

    data = read_bytes(path, STL_LIMIT)
    if path.suffix.lower() == ".ply":
        import trimesh

        loaded: Any = trimesh.load(BytesIO(data), file_type="ply", resolver=None, process=False, skip_materials=True)
        found = np.asarray(loaded.vertices, dtype="f8")
    else:
        lines = [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
        if lines and not _is_point(lines[0]):
            lines = lines[1:]
        if len(lines) > POINT_LIMIT:
            raise UnreadableSource(f"has more than {POINT_LIMIT:,} points")
        found = np.array([[float(word) for word in line.replace(",", " ").split()[:3]] for line in lines], dtype="f8")
    if len(found) > POINT_LIMIT or found.ndim != 2 or found.shape[1] != 3:
        raise UnreadableSource(f"is not one point with x, y and z per line, or has more than {POINT_LIMIT:,}")
    return Reading(arrays={"points": found})


def _is_point(line: str) -> bool:
    try:
        return len([float(word) for word in line.replace(",", " ").split()[:3]]) == 3
    except ValueError:
        return False
