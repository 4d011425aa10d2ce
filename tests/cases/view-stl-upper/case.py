"""Outside cases: an STL in capitals, an OBJ with two libraries, one with tabs."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    _, views = material.shown(room, Path(__file__).parent)
    upper, multi, tab = (views[name] for name in ("upper.stl", "multi.obj", "tab.obj"))
    assert (upper.kind, upper.meta["format"], upper.meta["triangles"]) == ("model", "STL", 1)
    assert (multi.problem, sorted(multi.meta["beside"]), multi.meta["absent"]) == ("", ["a.mtl", "b.mtl"], [])
    assert (tab.meta["vertices"], tab.meta["box"]) == (3, [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
