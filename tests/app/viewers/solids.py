"""One box, 2 wide, 3 deep and 4 high, of twelve triangles, in every format that models come in."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from viewing import material

FILES = Path(__file__).parent / "files"
SIZE = (2.0, 3.0, 4.0)
CORNERS = [(x * SIZE[0], y * SIZE[1], z * SIZE[2]) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]


def picture() -> bytes:
    """Squares of two colours, as a texture."""
    image = Image.new("RGB", (64, 64), "white")
    pen = ImageDraw.Draw(image)
    for x in range(4):
        for y in range(4):
            pen.rectangle((16 * x, 16 * y, 16 * x + 15, 16 * y + 15), fill="firebrick" if (x + y) % 2 else "gold")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _parts() -> tuple[list[tuple[float, ...]], list[tuple[float, float]], list[int]]:
    """Four corners for each face, so that each has its own texture coordinates."""
    points = [CORNERS[i] for quad in QUADS for i in quad]
    places = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] * 6
    index = [4 * face + i for face in range(6) for i in (0, 1, 2, 0, 2, 3)]
    return points, places, index


def _normals() -> list[tuple[float, float, float]]:
    out: list[tuple[float, float, float]] = []
    for quad in QUADS:
        a, b, c = (CORNERS[i] for i in quad[:3])
        u, v = ([q - p for p, q in zip(a, b, strict=True)], [q - p for p, q in zip(a, c, strict=True)])
        n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        length = sum(x * x for x in n) ** 0.5
        out += [(n[0] / length, n[1] / length, n[2] / length)] * 4
    return out


def gltf(*, buffer: Mapping[str, Any], image: str | None = None, moves: bool = False) -> tuple[dict[str, Any], bytes]:
    """The document and its data: points, normals, texture coordinates, index, and two moments of a turn."""
    points, places, index = _parts()
    blocks = [struct.pack(f"<{3 * len(points)}f", *(v for p in points for v in p))]
    blocks.append(struct.pack(f"<{3 * len(points)}f", *(v for n in _normals() for v in n)))
    blocks.append(struct.pack(f"<{2 * len(places)}f", *(v for p in places for v in p)))
    blocks.append(struct.pack(f"<{len(index)}H", *index))
    blocks.append(struct.pack("<2f", 0, 1))
    blocks.append(struct.pack("<8f", 0, 0, 0, 1, 0, 0.7071068, 0, 0.7071068))
    views, at = [], 0
    for block in blocks:
        views.append({"buffer": 0, "byteOffset": at, "byteLength": len(block)})
        at += len(block)
    accessor = lambda view, count, kind, part=5126, **more: {  # noqa: E731
        "bufferView": view, "componentType": part, "count": count, "type": kind, **more
    }  # fmt: skip
    document: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}, "indices": 3, "material": 0}]}
        ],
        "materials": [{"name": "paint", "pbrMetallicRoughness": {"baseColorFactor": [0.9, 0.5, 0.2, 1]}}],
        "accessors": [
            accessor(0, 24, "VEC3", min=[0, 0, 0], max=list(SIZE)),
            accessor(1, 24, "VEC3"),
            accessor(2, 24, "VEC2"),
            accessor(3, 36, "SCALAR", 5123),
            accessor(4, 2, "SCALAR", min=[0], max=[1]),
            accessor(5, 2, "VEC4"),
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": at, **buffer}],
    }
    if image is not None:
        document |= {"images": [{"uri": image}], "textures": [{"source": 0}]}
        document["materials"][0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}, "metallicFactor": 0}
    if moves:
        turn = {"channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}]}
        document["animations"] = [{"name": "turn", **turn, "samplers": [{"input": 4, "output": 5}]}]
    return document, b"".join(blocks)


def glb(document: Mapping[str, Any], data: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    body = len(text).to_bytes(4, "little") + b"JSON" + text + len(data).to_bytes(4, "little") + b"BIN\0" + data
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body


def moving() -> bytes:
    document, data = gltf(buffer={}, moves=True)
    return glb(document, data)


def waves(side: int) -> bytes:
    """A surface of 2 x side x side triangles."""
    import numpy as np

    x, y = np.meshgrid(np.linspace(0, 10, side + 1), np.linspace(0, 10, side + 1))
    points = np.stack([x, np.sin(x * 2) * np.cos(y * 2), y], axis=-1).astype("<f4").reshape(-1, 3)
    rows = np.arange(side)[:, None] * (side + 1) + np.arange(side)[None, :]
    corners = [rows, rows + side + 1, rows + 1, rows + 1, rows + side + 1, rows + side + 2]
    index = np.stack(corners, axis=-1).astype("<u4").reshape(-1)
    data = points.tobytes() + index.tobytes()
    split = points.nbytes
    low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3", "min": low, "max": high},
            {"bufferView": 1, "componentType": 5125, "count": len(index), "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": split},
            {"buffer": 0, "byteOffset": split, "byteLength": len(data) - split},
        ],
        "buffers": [{"byteLength": len(data)}],
    }
    return glb(document, data)


def obj(library: str = "") -> str:
    lines = [f"mtllib {library}"] if library else []
    lines += [f"v {x} {y} {z}" for x, y, z in CORNERS]
    lines += ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1"]
    for face, quad in enumerate(QUADS):
        lines.append(f"usemtl {'wood' if face < 3 else 'steel'}")
        lines.append("f " + " ".join(f"{i + 1}/{n}" for n, i in enumerate(quad, 1)))
    return "\n".join(lines) + "\n"


def stl() -> bytes:
    out = bytes(80) + struct.pack("<I", len(TRIANGLES))
    for triangle in TRIANGLES:
        out += struct.pack("<12fH", 0, 0, 0, *(v for i in triangle for v in CORNERS[i]), 0)
    return out


def stl_text() -> str:
    lines = ["solid box"]
    for triangle in TRIANGLES:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {x} {y} {z}" for x, y, z in (CORNERS[i] for i in triangle)]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid box"]) + "\n"


def ply(*, faces: bool = True, broken: bool = False) -> str:
    head = ["ply", "format ascii 1.0", f"element vertex {len(CORNERS)}"]
    head += [f"property float {axis}" for axis in "xyz"]
    head += [f"property uchar {colour}" for colour in ("red", "green", "blue")]
    if faces:
        head += [f"element face {len(TRIANGLES)}", "property list uchar int vertex_indices"]
    rows = [f"{x} {y} {z} {60 + int(x * 90)} {60 + int(y * 60)} {60 + int(z * 45)}" for x, y, z in CORNERS]
    if broken:
        rows[3] = "nan 1 1 0 0 0"
    rows += [f"3 {a} {b} {c}" for a, b, c in TRIANGLES] if faces else []
    return "\n".join([*head, "end_header", *rows]) + "\n"


def three_ds(texture: str = "") -> bytes:
    def chunk(kind: int, *parts: bytes) -> bytes:
        body = b"".join(parts)
        return struct.pack("<HI", kind, 6 + len(body)) + body

    def name(text: str) -> bytes:
        return text.encode() + b"\0"

    colour = chunk(0xA020, chunk(0x0011, bytes((60, 160, 90))))
    drawn = chunk(0xA200, chunk(0xA300, name(texture))) if texture else b""
    paint = chunk(0xAFFF, chunk(0xA000, name("green")), colour, drawn)
    points = struct.pack("<H", len(CORNERS)) + b"".join(struct.pack("<3f", *p) for p in CORNERS)
    faces = struct.pack("<H", len(TRIANGLES)) + b"".join(struct.pack("<4H", *t, 7) for t in TRIANGLES)
    group = chunk(0x4130, name("green"), struct.pack(f"<H{len(TRIANGLES)}H", len(TRIANGLES), *range(len(TRIANGLES))))
    mesh = chunk(0x4100, chunk(0x4110, points), chunk(0x4120, faces, group))
    return chunk(0x4D4D, chunk(0x0002, struct.pack("<I", 3)), chunk(0x3D3D, paint, chunk(0x4000, name("Box"), mesh)))


def dae(image: str = "") -> str:
    def numbers(values: Sequence[float]) -> str:
        return " ".join(f"{v:g}" for v in values)

    points = [v for p in CORNERS for v in p]
    index = [i for t in TRIANGLES for i in t]
    axes = "".join(f'<param name="{a}" type="float"/>' for a in "XYZ")
    reading = f'<accessor source="#values" count="{len(CORNERS)}" stride="3">{axes}</accessor>'
    source = f'<source id="points"><float_array id="values" count="{len(points)}">{numbers(points)}</float_array>'
    source += f"<technique_common>{reading}</technique_common></source>"
    corners = '<vertices id="corners"><input semantic="POSITION" source="#points"/></vertices>'
    faces = f'<triangles count="{len(TRIANGLES)}" material="m"><input semantic="VERTEX" source="#corners" offset="0"/>'
    faces += f"<p>{numbers(index)}</p></triangles>"
    paint = "<diffuse><color>0.3 0.4 0.9 1</color></diffuse>"
    if image:
        paint = '<diffuse><texture texture="sampler" texcoord="UV"/></diffuse>'
    images = f'<library_images><image id="img"><init_from>{image}</init_from></image></library_images>' if image else ""
    sampling = (
        '<newparam sid="surface"><surface type="2D"><init_from>img</init_from></surface></newparam>'
        '<newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>'
        if image
        else ""
    )
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>{images}
<library_effects><effect id="e"><profile_COMMON>{sampling}<technique sid="t"><lambert>{paint}</lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="blue"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>{source}{corners}{faces}</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="m" target="#blue"/></technique_common></bind_material></instance_geometry></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


def three_mf() -> bytes:
    space = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
    points = "".join(f'<vertex x="{x:g}" y="{y:g}" z="{z:g}"/>' for x, y, z in CORNERS)
    faces = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in TRIANGLES)
    mesh = f"<mesh><vertices>{points}</vertices><triangles>{faces}</triangles></mesh>"
    colours = '<basematerials id="5"><base name="red" displaycolor="#CC3344"/></basematerials>'
    body = f'<resources>{colours}<object id="1" type="model" pid="5" pindex="0">{mesh}</object></resources>'
    start = "http://schemas.openxmlformats.org/package/2006"
    relation = '<Relationship Id="r" Target="/3D/3dmodel.model" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/>'
    kind = "application/vnd.ms-package.3dmanufacturing-3dmodel+xml"
    return material.packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{start}/content-types">'
            f'<Default Extension="model" ContentType="{kind}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{start}/relationships">{relation}</Relationships>',
            "3D/3dmodel.model": f'<?xml version="1.0"?><model unit="inch" xmlns="{space}">{body}'
            '<build><item objectid="1"/></build></model>',
        }
    )


def fbx(texture: str = "") -> str:
    """FBX 7.4 as text. Its readers go by the tabs."""
    points = ",".join(f"{v:g}" for p in CORNERS for v in p)
    index = ",".join(str(-i - 1 if n == 3 else i) for quad in QUADS for n, i in enumerate(quad))
    places = ",".join(f"{v:g}" for p in ((0, 0), (1, 0), (1, 1), (0, 1)) * 6 for v in p)
    drawn = f"""\tTexture: 400, "Texture::wood", "" {{
\t\tFileName: "C:\\jane\\{texture}"
\t\tRelativeFilename: "{texture}"
\t}}
\tVideo: 500, "Video::wood", "Clip" {{
\t\tRelativeFilename: "{texture}"
\t}}
"""
    links = '\tC: "OP",400,300, "DiffuseColor"\n\tC: "OO",500,400\n'
    return f"""; FBX 7.4.0 project file
FBXHeaderExtension:  {{
\tFBXHeaderVersion: 1003
\tFBXVersion: 7400
}}
GlobalSettings:  {{
\tVersion: 1000
\tProperties70:  {{
\t\tP: "UpAxis", "int", "Integer", "",1
\t\tP: "UnitScaleFactor", "double", "Number", "",1
\t}}
}}
Objects:  {{
\tGeometry: 100, "Geometry::Box", "Mesh" {{
\t\tVertices: *{3 * len(CORNERS)} {{
\t\t\ta: {points}
\t\t}}
\t\tPolygonVertexIndex: *24 {{
\t\t\ta: {index}
\t\t}}
\t\tGeometryVersion: 124
\t\tLayerElementUV: 0 {{
\t\t\tVersion: 101
\t\t\tName: "map1"
\t\t\tMappingInformationType: "ByPolygonVertex"
\t\t\tReferenceInformationType: "Direct"
\t\t\tUV: *48 {{
\t\t\t\ta: {places}
\t\t\t}}
\t\t}}
\t}}
\tModel: 200, "Model::Box", "Mesh" {{
\t\tVersion: 232
\t}}
\tMaterial: 300, "Material::paint", "" {{
\t\tVersion: 102
\t\tShadingModel: "phong"
\t\tProperties70:  {{
\t\t\tP: "DiffuseColor", "Color", "", "A",0.8,0.5,0.2
\t\t}}
\t}}
{drawn if texture else ""}}}
Connections:  {{
\tC: "OO",200,0
\tC: "OO",100,200
\tC: "OO",300,200
{links if texture else ""}}}
"""
