"""Outside cases: an STL in capitals, an OBJ with two libraries, one with tabs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    folder = room / "files"
    shutil.copytree(Path(__file__).parent, folder)
    lines = (folder / "upper.stl").read_bytes().replace(b"\r\n", b"\n").replace(b"SOLID", b"SOLID by Ada").split(b"\n")
    (folder / "old-mac.stl").write_bytes(b"\r".join(lines))
    store, views = material.shown(room, folder)
    upper, multi, tab = (views[name] for name in ("upper.stl", "multi.obj", "tab.obj"))
    assert (upper.kind, upper.meta["format"], upper.meta["triangles"]) == ("model", "STL", 1)
    old_mac = views["old-mac.stl"]
    assert (old_mac.kind, old_mac.meta["box"], old_mac.problem) == ("model", upper.meta["box"], "")
    assert b"Ada" not in store.blobs.read(old_mac.files["blind"])
    assert (multi.problem, sorted(multi.meta["beside"]), multi.meta["absent"]) == ("", ["a.mtl", "b.mtl"], [])
    assert (tab.meta["vertices"], tab.meta["box"]) == (3, [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
