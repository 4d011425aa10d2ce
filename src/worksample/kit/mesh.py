"""Triangle meshes from STL files, in text or binary form, with limits on the size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from .source import UnreadableSource, read_bytes

if TYPE_CHECKING:
    import numpy as np

TRIANGLE_LIMIT = 300_000
STL_LIMIT = 96 << 20
"""Maximum size of an STL file in bytes."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """A triangle mesh. `triangles` has the shape (triangles, 3 corners, 3 coordinates), in the file's unit of
    length.
    """

    triangles: np.ndarray

    @property
    def volume(self) -> float:
        """Enclosed volume, never negative, by the divergence theorem. The value is only meaningful for a watertight
        mesh.
        """
        import numpy as np

        t = self.triangles - self.triangles.reshape(-1, 3).mean(axis=0)
        return float(abs(np.einsum("ij,ij->i", t[:, 0], np.cross(t[:, 1], t[:, 2])).sum()) / 6)

    @property
    def area(self) -> float:
        return float(self.areas.sum())

    @property
    def areas(self) -> np.ndarray:
        """Area of each triangle."""
        import numpy as np

        t = self.triangles
        found: np.ndarray = np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1) / 2
        return found

    @property
    def low(self) -> np.ndarray:
        """Smallest x, y and z of all corners."""
        found: np.ndarray = self.triangles.reshape(-1, 3).min(axis=0)
        return found

    @property
    def high(self) -> np.ndarray:
        """Largest x, y and z of all corners."""
        found: np.ndarray = self.triangles.reshape(-1, 3).max(axis=0)
        return found

    @property
    def size(self) -> np.ndarray:
        """Lengths of the bounding box along x, y, z."""
        found: np.ndarray = self.high - self.low
        return found

    @property
    def watertight(self) -> bool:
        """True if the surface is closed and all triangles face the same side: each edge is used once in each direction.

        Corners are the same corner if they are closer than 1e-6 of the bounding box's diagonal.
        """
        import numpy as np

        corners = self.triangles.reshape(-1, 3)
        step = max(float(np.linalg.norm(self.size)) * 1e-6, 1e-12)
        _, index = np.unique(np.round((corners - self.low) / step).astype(np.int64), axis=0, return_inverse=True)
        faces = index.reshape(-1, 3)
        alive = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        faces = faces[alive]
        if not len(faces):
            return False
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        there, counts = np.unique(edges, axis=0, return_counts=True)
        back = np.unique(edges[:, ::-1], axis=0)
        return bool((counts == 1).all() and there.shape == back.shape and (there == back).all())

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Return `count` random points on the surface, distributed uniformly by area, with the shape (count, 3). The
        same seed gives the same points.
        """
        import numpy as np

        rng = np.random.default_rng(seed)
        areas = self.areas
        chosen = self.triangles[rng.choice(len(areas), count, p=areas / areas.sum())]
        u, v = rng.random((2, count, 1))
        over = u + v > 1
        u, v = np.where(over, 1 - u, u), np.where(over, 1 - v, v)
        points: np.ndarray = chosen[:, 0] + u * (chosen[:, 1] - chosen[:, 0]) + v * (chosen[:, 2] - chosen[:, 0])
        return points


def read_stl(path: Path) -> Mesh:
    """Read a mesh from an STL file. Raises UnreadableSource if the file is not STL, is empty, has infinite coordinates,
    has no area, or exceeds a limit.
    """
    import numpy as np

    data = read_bytes(path, STL_LIMIT)
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        triangles = _binary(data, count)
    elif data[:5].lower() == b"solid":
        triangles = _ascii(data)
    else:
        raise UnreadableSource("is not an STL file")
    if not len(triangles):
        raise UnreadableSource("has no triangles")
    if not np.isfinite(triangles).all() or np.abs(triangles).max() > 1e12:
        raise UnreadableSource("has coordinates that are infinite, NaN or beyond 1e12")
    mesh = Mesh(triangles)
    if mesh.area <= 0:
        raise UnreadableSource("has only triangles without area")
    return mesh


def _binary(data: bytes, count: int) -> np.ndarray:
    import numpy as np

    if count > TRIANGLE_LIMIT:
        raise UnreadableSource(f"has more than {TRIANGLE_LIMIT:,} triangles")
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    found: np.ndarray = np.frombuffer(data, kind, count, 84)["corners"].astype(np.float64)
    return found


def _ascii(data: bytes) -> np.ndarray:
    import numpy as np

    found = re.finditer(rb"^[ \t]*vertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]*\r?$", data, re.MULTILINE)
    corners = [m.groups() for m in islice(found, 3 * TRIANGLE_LIMIT + 1)]
    if len(corners) > 3 * TRIANGLE_LIMIT:
        raise UnreadableSource(f"has more than {TRIANGLE_LIMIT:,} triangles")
    if len(corners) % 3 or len(corners) != data.count(b"vertex"):
        raise UnreadableSource("is not an STL file: its vertex lines cannot be read as triangles")
    try:
        return np.array(corners, dtype=np.float64).reshape(-1, 3, 3)
    except ValueError as error:
        raise UnreadableSource(f"is not an STL file: {error}") from error
