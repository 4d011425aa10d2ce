"""Measurement of glTF models. Triangles and vertices are counted from the accessors, without reading a vertex."""

from __future__ import annotations

import json
import math
from typing import Any

from .conversion_job import ConversionJob, ViewDraft
from .mesh import Extent

NODES = 50_000
JSON = 64 << 20
_SAME = [1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0]


def gltf(job: ConversionJob, made: ViewDraft) -> None:
    """Measure a glTF model. Raises the errors of a malformed structure, which the caller treats as damage."""
    document = _document(job)
    scenes, nodes = document.get("scenes", []), document.get("nodes", [])
    roots = scenes[document.get("scene", 0)].get("nodes", []) if scenes else range(len(nodes))
    extent, triangles, vertices, seen = Extent(), 0, 0, 0
    open_ = [(int(n), _SAME, 0) for n in roots]
    while open_:
        number, above, depth = open_.pop()
        seen += 1
        if seen > NODES or depth > 200:
            raise ValueError("the glTF has too many nodes, or its nodes form a loop")
        node = nodes[number]
        matrix = _product(above, _matrix(node))
        open_ += [(int(n), matrix, depth + 1) for n in node.get("children", [])]
        if "mesh" in node:
            for primitive in document["meshes"][node["mesh"]]["primitives"]:
                faces, corners = _primitive(document, primitive, matrix, extent)
                triangles, vertices = triangles + faces, vertices + corners
    made.meta |= {
        "vertices": vertices,
        "triangles": triangles,
        "box": extent.plain()["box"],
        "animations": [str(a.get("name", ""))[:100] for a in document.get("animations", [])[:200]],
        "materials": [str(m.get("name", ""))[:100] for m in document.get("materials", [])[:500]],
        "extensions": [str(e)[:60] for e in document.get("extensionsRequired", [])[:50]],
    }
    parts = [*document.get("buffers", []), *document.get("images", [])]
    uris = [str(p["uri"]) for p in parts if "uri" in p and not str(p["uri"]).startswith("data:")]
    made.beside = list(dict.fromkeys(_plain(u) for u in uris))
    lacking = [n for n in made.beside if not (job.file.parent / n).is_file()]
    if lacking:
        made.problem = f"it refers to files that are not there: {', '.join(lacking)[:200]}"


def _plain(uri: str) -> str:
    from urllib.parse import unquote

    return unquote(uri)[:500]


def _document(job: ConversionJob) -> dict[str, Any]:
    with job.file.open("rb") as f:
        if f.read(4) != b"glTF":
            f.seek(0)
            data = f.read(JSON)
        else:
            version, total = (int.from_bytes(f.read(4), "little") for _ in range(2))
            length, kind = int.from_bytes(f.read(4), "little"), f.read(4)
            if version != 2 or kind != b"JSON":
                raise ValueError(f"version {version} of glTF cannot be shown")
            if total > job.size:
                raise ValueError("the file is cut off")
            data = f.read(min(length, JSON))
    document = json.loads(data)
    if not isinstance(document, dict):
        raise ValueError("the glTF's JSON is not an object")
    return document


def _primitive(
    document: dict[str, Any], primitive: dict[str, Any], matrix: list[float], extent: Extent
) -> tuple[int, int]:
    """Return the number of triangles and vertices of a primitive, and extend the bounding box `extent` by its
    corners.
    """
    position = document["accessors"][primitive["attributes"]["POSITION"]]
    count = (
        int(document["accessors"][primitive["indices"]]["count"]) if "indices" in primitive else int(position["count"])
    )
    low, high = position.get("min"), position.get("max")
    if low and high:
        for corner in range(8):
            x, y, z = (float((high if corner >> axis & 1 else low)[axis]) for axis in range(3))
            extent.add(*(matrix[i] * x + matrix[4 + i] * y + matrix[8 + i] * z + matrix[12 + i] for i in range(3)))
    mode = int(primitive.get("mode", 4))
    return (count // 3 if mode == 4 else max(0, count - 2) if mode in (5, 6) else 0), int(position["count"])


def _matrix(node: dict[str, Any]) -> list[float]:
    """Return a node's local transformation, column by column."""
    if "matrix" in node:
        values = [float(v) for v in node["matrix"]]
        if len(values) != 16:
            raise ValueError("a matrix does not have 16 finite numbers")
        return values
    x, y, z, w = (float(v) for v in node.get("rotation", (0, 0, 0, 1)))
    sx, sy, sz = (float(v) for v in node.get("scale", (1, 1, 1)))
    tx, ty, tz = (float(v) for v in node.get("translation", (0, 0, 0)))
    if not math.isfinite(x + y + z + w + sx + sy + sz + tx + ty + tz):
        raise ValueError("a transformation contains an infinite number or NaN")
    return [
        *(sx * (1 - 2 * (y * y + z * z)), sx * 2 * (x * y + z * w), sx * 2 * (x * z - y * w), 0.0),
        *(sy * 2 * (x * y - z * w), sy * (1 - 2 * (x * x + z * z)), sy * 2 * (y * z + x * w), 0.0),
        *(sz * 2 * (x * z + y * w), sz * 2 * (y * z - x * w), sz * (1 - 2 * (x * x + y * y)), 0.0),
        *(tx, ty, tz, 1.0),
    ]


def _product(a: list[float], b: list[float]) -> list[float]:
    return [sum(a[4 * k + row] * b[4 * column + k] for k in range(4)) for column in range(4) for row in range(4)]
