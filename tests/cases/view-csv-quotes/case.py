"""An outside case: the first doubled quotes of a table come after many rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    store, views = material.shown(room, Path(__file__).parent)
    for name in ("dq.csv", "dq2.csv"):
        view = views[name]
        assert (view.meta["delimiter"], view.meta["sheets"][0]["columns"]) == (",", 3)
        assert material.loaded(store, view, "0/0")[-1] == ["60", 'She said "stop, now" twice', "60"]
