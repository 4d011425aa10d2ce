"""An outside case: notebooks with null where a table or a list may be left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    store, views = material.shown(room, Path(__file__).parent)
    kernel, outputs = views["nullkernel.ipynb"], views["nullout.ipynb"]
    assert (kernel.kind, kernel.meta["language"], kernel.problem) == ("notebook", "python", "")
    assert (outputs.kind, outputs.meta["language"]) == ("notebook", "R")
    assert material.loaded(store, outputs, "cells") == [{"type": "code", "source": "x", "count": 1, "outputs": []}]
    assert "blind" in kernel.files and not kernel.meta.get("leaks")
