"""Measurement of 3D meshes, which are read as streams: number of triangles and bounding box."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .conversion_job import ConversionJob, ViewDraft


@dataclass(slots=True)
class Extent:
    """A bounding box that grows point by point."""

    low: list[float] = field(default_factory=lambda: [math.inf] * 3)
    high: list[float] = field(default_factory=lambda: [-math.inf] * 3)
    count: int = 0

    def add(self, x: float, y: float, z: float) -> None:
        self.count += 1
        for i, value in enumerate((x, y, z)):
            if not math.isfinite(value):
                raise ValueError("a coordinate is not a number")
            self.low[i] = min(self.low[i], value)
            self.high[i] = max(self.high[i], value)

    def plain(self) -> dict[str, Any]:
        return {"vertices": self.count, "box": [self.low, self.high] if self.count else None}


def lines(job: ConversionJob) -> Iterator[bytes]:
    """Yield the lines of a text file. Lines of more than a megabyte are split."""
    with job.file.open("rb") as f:
        while line := f.readline(1 << 20):
            yield line


def obj(job: ConversionJob, made: ViewDraft) -> None:
    """Measure a Wavefront model. A face with n corners counts as n - 2 triangles. Materials and textures are in files
    beside the model.
    """
    extent, triangles = Extent(), 0
    materials: dict[str, None] = {}
    used: dict[str, None] = {}
    for word, rest in _statements(job):
        if word == b"v":
            x, y, z = rest.split()[:3]
            extent.add(float(x), float(y), float(z))
        elif word == b"f":
            triangles += max(0, len(rest.split()) - 2)
        elif word == b"mtllib":
            materials |= dict.fromkeys(_libraries(job, rest.decode("utf-8", "replace")))
        elif word == b"usemtl" and len(used) < 1_000:
            used[rest.decode("utf-8", "replace")[:100]] = None
    made.meta |= extent.plain() | {"triangles": triangles, "materials": list(used)}
    made.beside = list(materials)
    lacking = []
    for name in materials:
        found = (job.file.parent / name.replace("\\", "/")).resolve()
        if found.is_file() and found.is_relative_to(job.folder.resolve()):
            made.beside += _pictures(found.read_bytes()[: 4 << 20], name)
        else:
            lacking.append(name)
    if lacking:
        made.problem = f"its materials are missing: {', '.join(lacking)[:200]}"


def _statements(job: ConversionJob) -> Iterator[tuple[bytes, bytes]]:
    """Yield keyword (lower case) and arguments of each line; a backslash at the end joins the next line."""
    joined = b""
    for number, line in enumerate(lines(job)):
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
        stripped = line.rstrip()
        if stripped.endswith(b"\\") and len(joined) < 1 << 20 and not stripped.lstrip().startswith(b"#"):
            joined += stripped[:-1] + b" "
            continue
        word, _, rest = re.sub(rb"\s", b" ", (joined + line).strip(), count=1).partition(b" ")
        joined = b""
        yield word.lower(), rest.strip()


def _libraries(job: ConversionJob, names: str) -> list[str]:
    """Return the names of material libraries in a line. If a file with the whole text as its name exists, the name
    contains spaces; otherwise each word is a name.
    """
    whole = job.file.parent / names.replace("\\", "/")
    return [names] if len(names) < 1_000 and whole.is_file() else names.split() or [names]


def _pictures(data: bytes, library: str) -> list[str]:
    """Return the textures named in a material library, relative to the model."""
    folder = library.replace("\\", "/").rpartition("/")[0]
    out: dict[str, None] = {}
    for line in data.splitlines():
        found = re.match(rb"\s*(?:map_\w+|bump|disp|decal|refl|norm)\s+(\S.*)", line, re.I)
        if found:
            # Options (-s 1 1 1) come before a name, which may have spaces.
            rest = found.group(1).strip()
            name = (rest.split()[-1] if rest.startswith(b"-") else rest).decode("utf-8", "replace")
            out[f"{folder}/{name}" if folder else name] = None
    return list(out)


def binary_stl(head: bytes, size: int, *, text: bool) -> int | None:
    """Return the number of triangles of a binary STL, read from its first 84 bytes. Return None if the file is not a
    binary STL.

    Some programs append data to a binary STL. That is accepted only if the file is not `text` and does not begin like a
    text STL.
    """
    if len(head) < 84:
        return None
    count = int.from_bytes(head[80:84], "little")
    end = 84 + 50 * count
    padded = count > 0 and end < size and not text and head[:5].lower() != b"solid"
    return count if end == size or padded else None


def stl(job: ConversionJob, made: ViewDraft) -> None:
    """Measure an STL model. A binary STL has 80 bytes, a count, and 50 bytes per triangle. Any other STL is text, in
    lower or upper case.
    """
    count = binary_stl(job.head(84), job.size, text=False)
    if count is not None:
        import numpy as np

        corner = np.dtype([("normal", "<3f4"), ("corners", "<9f4"), ("attribute", "<u2")])
        corners = np.memmap(job.file, dtype=corner, mode="r", offset=84, shape=(count,))["corners"]
        corners = corners.reshape(-1, 3)
        if count and not np.isfinite(corners).all():
            raise ValueError("a coordinate is not a number")
        box = [corners.min(axis=0).tolist(), corners.max(axis=0).tolist()] if count else None
        made.meta |= {"vertices": 3 * count, "triangles": count, "box": box}
        return
    extent, triangles = Extent(), 0
    # As text, since some programs end lines by a carriage return alone.
    with job.file.open(encoding="latin-1") as f:
        while line := f.readline(1 << 20):
            word, *rest = line.lower().split() or [""]
            if word == "vertex":
                x, y, z = rest[:3]
                extent.add(float(x), float(y), float(z))
            triangles += word == "endfacet"
    made.meta |= extent.plain() | {"triangles": triangles}


def begins_as_ply(head: bytes) -> bool:
    """Return whether the first line of a file, in lower or upper case, is that of a PLY model."""
    return head[:4].lower() in (b"ply\n", b"ply\r")


def ply(job: ConversionJob, made: ViewDraft) -> None:
    """Read the numbers of vertices and triangles from the header of a PLY model. The viewer computes the bounding
    box.
    """
    head, end, _ = job.head(1 << 16).lower().partition(b"end_header")
    if not end:
        raise ValueError("the header of the PLY file has no end")
    counts = {m.group(1): int(m.group(2)) for m in re.finditer(rb"element (vertex|face) (\d{1,12})", head)}
    made.meta |= {"vertices": counts.get(b"vertex", 0), "triangles": counts.get(b"face", 0)}
