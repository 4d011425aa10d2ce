"""An outside case: a notebook of format 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    store, views = material.shown(room, Path(__file__).parent)
    view = views["v3.ipynb"]
    heading, cell = material.loaded(store, view, "cells")
    assert (heading["type"], heading["source"]) == ("markdown", "# Sales") and "<h1>Sales</h1>" in heading["html"]
    assert cell["count"] == 1 and view.meta["run"] == 1
    assert cell["outputs"] == [
        {"type": "text", "text": "42"},
        {"type": "html", "text": "<b>table</b>"},
        {"type": "text", "name": "stdout", "text": "printed"},
        {"type": "image", "file": "image/0.jpg"},
    ]
