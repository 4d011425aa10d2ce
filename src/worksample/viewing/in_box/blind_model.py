"""Blind copies of 3D models in text formats and GLB. Header fields that name an author, a firm or a program are
emptied.
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

from .conversion_job import ConversionJob
from .mesh import begins_as_ply, binary_stl

_HEADER = 1 << 20


def scrub(job: ConversionJob, leaks: list[str]) -> bytes | None:
    data = job.file.read_bytes()
    if job.family in ("step", "ifc"):
        return step(data)
    if job.family == "dxf":
        if data.startswith(b"AutoCAD Binary DXF"):
            leaks.append("a binary DXF is not rewritten; it may name who saved it")
            return None
        return dxf(data)
    if data.startswith(b"glTF"):
        return glb(data)
    if job.extension == "gltf":
        return _gltf(data)
    if job.extension in ("obj", "ply") or begins_as_ply(data[:4]):
        return comments(data)
    triangles = binary_stl(data[:84], len(data), text=job.extension != "stl")
    if triangles is not None:
        return bytes(80) + data[80 : 84 + 50 * triangles]
    if data.lstrip()[:5].lower() == b"solid" or b"<COLLADA" in data[:4096]:
        return xml_or_solid(data)
    leaks.append("this model format is not rewritten; it may name its maker")
    return None


def step(data: bytes) -> bytes:
    """Empty the name, time, authors, firms, programs and approval in the FILE_NAME of a STEP or IFC file."""
    head, rest = data[:_HEADER], data[_HEADER:]
    start, data_section, tail = head.partition(b"DATA;")
    start = _FILE_NAME.sub(b"FILE_NAME('','',(''),(''),'','','');", without(start, b"/*", b"*/"))
    return start + data_section + tail + rest


# Possessive quantifiers: a malicious header must not cause backtracking.
_FILE_NAME = re.compile(rb"FILE_NAME\s*+\((?>'(?:[^']|'')*+'|[^';])*+;")


def without(data: bytes, start: bytes, end: bytes) -> bytes:
    """Remove every range from a `start` mark to the next `end` mark."""
    out, at = [], 0
    while (begin := data.find(start, at)) >= 0 and (stop := data.find(end, begin + len(start))) >= 0:
        out.append(data[at:begin])
        at = stop + len(end)
    return b"".join([*out, data[at:]])


_DXF_NAMES = rb"LASTSAVEDBY|CUSTOMPROPERTY|AUTHOR|TITLE|SUBJECT|KEYWORDS|COMMENTS|PROJECTNAME"
_DXF_LINE = rb"[ \t]*\r?\n"
_DXF_TELLS = re.compile(
    rb"(?m)^([ \t]*9"
    + _DXF_LINE
    + rb"[ \t]*\$(?:"
    + _DXF_NAMES
    + rb")"
    + _DXF_LINE
    + rb"[ \t]*\d+"
    + _DXF_LINE
    + rb")[^\r\n]*"
)
_DXF_COMMENT = re.compile(rb"(?m)^([ \t]*999[ \t]*\r?\n)[^\r\n]*")


def dxf(data: bytes) -> bytes:
    """Empty the header variables of a text DXF that name people, and the comments before and inside the header."""
    head, end, body = data.partition(b"ENDSEC")
    return _DXF_COMMENT.sub(rb"\1", _DXF_TELLS.sub(rb"\1", head)) + end + body


def glb(data: bytes) -> bytes:
    """Rewrite the JSON chunk of a GLB without changing its length, so that the other chunk does not move."""
    size, kind = struct.unpack("<I4s", data[12:20])
    if kind != b"JSON":
        raise ValueError("the GLB file does not begin with a JSON chunk")
    text = json.dumps(
        _without_makers(json.loads(data[20 : 20 + size])), ensure_ascii=False, separators=(",", ":")
    ).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size :]
    return data[:8] + struct.pack("<II4s", 20 + len(text) + len(rest), len(text), b"JSON") + text + rest


def _gltf(data: bytes) -> bytes:
    return json.dumps(_without_makers(json.loads(data)), ensure_ascii=False, indent=1).encode()


def _without_makers(document: dict[str, Any]) -> dict[str, Any]:
    asset = document.get("asset", {})
    document["asset"] = {k: v for k, v in asset.items() if k in ("version", "minVersion")}
    document.pop("extras", None)
    extensions = document.get("extensions", {})
    if isinstance(extensions, dict):
        extensions.pop("KHR_xmp_json_ld", None)
    return document


def comments(data: bytes) -> bytes:
    """Empty the comments of OBJ and PLY."""
    if data[:3].lower() == b"ply":
        found = re.search(rb"end_header", data, re.I)
        at = found.start() if found else len(data)
        return re.sub(rb"(?mi)^((?:comment|obj_info)\b)(?! TextureFile)[^\r\n]*", rb"\1", data[:at]) + data[at:]
    return re.sub(rb"(?m)^([ \t]*#)[^\r\n]*", rb"\1", data)


def xml_or_solid(data: bytes) -> bytes:
    """Remove the name after `solid` from a text STL, or the contributors from a COLLADA file."""
    if data.lstrip()[:5].lower() == b"solid":
        return re.sub(rb"(?i)(\A\s*|[\r\n][ \t]*)((?:end)?solid\b)[^\r\n]*", rb"\1\2", data)
    return without(without(data, b"<contributor>", b"</contributor>"), b"<!--", b"-->")
