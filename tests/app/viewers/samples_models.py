"""Models, parts, buildings and drawings: whole ones, ones that lack something, and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.viewers import cadfiles, solids
from viewing import material

MTL = "newmtl wood\nmap_Kd my wood.png\nnewmtl steel\nKd 0.4 0.5 0.6\n"
AWAY = "http://elsewhere.example/box.bin"


def _gltf(**options: Any) -> str:
    return json.dumps(solids.gltf(**options)[0])


def _basis(name: str) -> bytes:
    """A box that wears a KTX2 texture."""
    texture = (solids.FILES / name).read_bytes()
    document, data = solids.gltf(buffer={}, image="x")
    view = {"buffer": 0, "byteOffset": len(data), "byteLength": len(texture)}
    document["bufferViews"].append(view)
    document["images"] = [{"mimeType": "image/ktx2", "bufferView": len(document["bufferViews"]) - 1}]
    document["textures"] = [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]
    document["extensionsUsed"] = document["extensionsRequired"] = ["KHR_texture_basisu"]
    document["buffers"][0]["byteLength"] = len(data) + len(texture)
    return solids.glb(document, data + texture)


def files(scratch: Path) -> dict[str, bytes | str]:
    data = solids.gltf(buffer={})[1]
    read = lambda name: (solids.FILES / name).read_bytes()  # noqa: E731
    return {
        "solid/box.glb": solids.moving(),
        "solid/box.gltf": _gltf(buffer={"uri": "box%20data.bin"}, image="tex/wood.png"),
        "solid/box data.bin": data,
        "solid/tex/wood.png": solids.picture(),
        "solid/my wood.png": solids.picture(),
        "solid/bare.gltf": _gltf(buffer={"uri": "box%20data.bin"}, image="gone.png"),
        "solid/away.gltf": _gltf(buffer={"uri": AWAY}),
        "solid/above.gltf": _gltf(buffer={"uri": "../../../etc/passwd"}),
        "solid/dressed.gltf": _gltf(buffer={"uri": "box%20data.bin"}, image="http://elsewhere.example/x.png"),
        "solid/draco.gltf": read("BoxDraco.gltf"),
        "solid/0.bin": read("0.bin"),
        "solid/meshopt.glb": read("BoxMeshopt.glb"),
        "solid/uastc.glb": _basis("2d_uastc.ktx2"),
        "solid/etc1s.glb": _basis("2d_etc1s.ktx2"),
        "solid/box.obj": solids.obj("box.mtl"),
        "solid/box.mtl": MTL,
        "solid/bare.obj": solids.obj("gone.mtl"),
        "solid/box.stl": solids.stl(),
        "solid/text.stl": solids.stl_text(),
        "solid/box.ply": solids.ply(),
        "solid/cloud.ply": solids.ply(faces=False),
        "solid/broken.ply": solids.ply(broken=True),
        "solid/box.fbx": solids.fbx("wood.png"),
        "solid/wood.png": solids.picture(),
        "solid/box.3ds": solids.three_ds(),
        "solid/bare.3ds": solids.three_ds("GONE.PNG"),
        "solid/box.dae": solids.dae(),
        "solid/box.3mf": solids.three_mf(),
        "solid/box.3dm": read("box.3dm"),
        "solid/roof.skp": material.sketchup(),
        "solid/waves.glb": solids.waves(1000),
        "solid/empty.fbx": "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7400\n}\n",
        "cad/box.step": cadfiles.step(),
        "cad/broken.step": cadfiles.step()[:2000],
        "cad/house.ifc": cadfiles.ifc(),
        "cad/plan.dxf": cadfiles.plan(),
        "cad/far.dxf": cadfiles.scattered(),
        "cad/dense.dxf": cadfiles.dense(20_000),
        "cad/old.dwg": cadfiles.dwg(scratch),
    }
