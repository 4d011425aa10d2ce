"""Converter of 3D models that the viewer in the browser can read. It measures the models and finds the files to which
they refer.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from urllib.parse import unquote

from .conversion_job import READERS_FAULTS, ConversionJob, Unreadable, ViewDraft, fault
from .gltf import gltf
from .mesh import Extent, obj, ply, stl

LARGEST = 256 << 20
MOST_PICTURES = 300


def convert(job: ConversionJob) -> ViewDraft:
    """Measure a model. meta: format, vertices, triangles, box [[x, y, z], [x, y, z]] in the file's units; None if
    unknown.
    """
    if job.size > LARGEST:
        raise Unreadable(f"the model has {job.size >> 20} MiB, more than a browser can show")
    form = make(job)
    made = ViewDraft("model", meta={"format": form, "size": job.size, "vertices": None, "triangles": None, "box": None})
    measure = _MEASURES.get(form)
    if measure is None:
        made.beside = pictures(job) if form in _NAMING else []
        return made
    try:
        measure(job, made)
    except READERS_FAULTS as e:
        raise fault(e, "the model") from e
    if made.meta["triangles"] == 0 and made.meta["vertices"] == 0:
        raise Unreadable("the model is empty")
    return made


def make(job: ConversionJob) -> str:
    """Return the format of a 3D model, detected by its content."""
    head = job.head(512)
    if head.startswith(b"glTF"):
        return "GLB"
    if head.startswith(b"Kaydara FBX Binary") or head.lstrip().startswith(b"; FBX"):
        return "FBX"
    if head.startswith(b"3D Geometry File Format"):
        return "3DM"
    if head[:3].lower() == b"ply":
        return "PLY"
    if head.startswith(b"PK"):
        return "3MF"
    if head.lstrip().startswith(b"<") or head.startswith(b"\xef\xbb\xbf<"):
        return "DAE"
    if head.lstrip().startswith(b"{"):
        return "GLTF"
    if head.startswith(b"MM") and int.from_bytes(head[2:6], "little") == job.size:
        return "3DS"
    return "OBJ" if job.extension == "obj" else "STL"


def _three_mf(job: ConversionJob, made: ViewDraft) -> None:
    from defusedxml.ElementTree import iterparse

    extent, triangles = Extent(), 0
    with zipfile.ZipFile(job.file) as archive:
        # The model may be in several parts; which is the first one, another part says, under a name of any capitals.
        parts = [i for i in archive.infolist() if re.fullmatch(r"/?3d/.*\.model", i.filename, re.I)]
        if sum(part.file_size for part in parts) > LARGEST:
            raise ValueError("the file unpacks to more bytes than are read")
        for part in parts:
            with archive.open(part) as f:
                for _, element in iterparse(f, events=("end",)):
                    name = element.tag.rsplit("}", 1)[-1]
                    if name == "vertex":
                        extent.add(*(float(element.get(axis, "nan")) for axis in "xyz"))
                    triangles += name == "triangle"
                    element.clear()
    made.meta |= extent.plain() | {"triangles": triangles}


_NAMING = {"FBX", "3DS", "DAE"}
_PICTURE = re.compile(rb"[\w .()+,@\-/\\:%]{1,200}\.(?:png|jpe?g|tga|bmp|gif|webp)", re.I)


def pictures(job: ConversionJob) -> list[str]:
    """Return likely texture names in formats that only the viewer can parse: strings that look like picture paths.

    A path that does not exist is replaced by a file of that name beside the model: models store paths of other
    machines.
    """
    out: dict[str, None] = {}
    with job.file.open("rb") as f:
        last = b""
        while (data := f.read(8 << 20)) and len(out) < MOST_PICTURES:
            for found in _PICTURE.finditer(last + data):
                name = unquote(found.group().decode("ascii", "replace")).replace("\\", "/").strip()
                near = name.rsplit("/", 1)[-1]
                away = name.startswith("/") or ":" in name or not (job.file.parent / name).is_file()
                out[near if away else name] = None
            last = data[-256:]
    return list(out)[:MOST_PICTURES]


_MEASURES: dict[str, Callable[[ConversionJob, ViewDraft], None]] = {
    "GLB": gltf,
    "GLTF": gltf,
    "OBJ": obj,
    "STL": stl,
    "PLY": ply,
    "3MF": _three_mf,
}
