"""An outside case: notebooks with null where a table or a list may be left out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from viewing import material

MORE = {
    "old.ipynb": {
        "nbformat": 3, "metadata": None,
        "worksheets": [None, {"cells": None}, {}, {"cells": [{"cell_type": "code", "input": None, "outputs": None}]}],
    },
    "failed.ipynb": {
        "nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": "x", "outputs": [
            {"output_type": "error", "ename": "NameError", "evalue": None, "traceback": None},
            {"output_type": "error", "ename": None, "evalue": None, "traceback": None},
        ]}],
    },
    "nothing.ipynb": {"nbformat": 4},
}  # fmt: skip


def check(room: Path, request: pytest.FixtureRequest) -> None:
    folder = room / "files"
    shutil.copytree(Path(__file__).parent, folder)
    for name, book in MORE.items():
        (folder / name).write_text(json.dumps(book), encoding="utf-8")
    store, views = material.shown(room, folder)
    kernel, outputs = views["nullkernel.ipynb"], views["nullout.ipynb"]
    assert (kernel.kind, kernel.meta["language"], kernel.problem) == ("notebook", "python", "")
    assert (outputs.kind, outputs.meta["language"]) == ("notebook", "R")
    assert material.loaded(store, outputs, "cells") == [{"type": "code", "source": "x", "count": 1, "outputs": []}]
    assert "blind" in kernel.files and not kernel.meta.get("leaks")
    old = views["old.ipynb"]
    assert (old.kind, old.problem, old.meta["cells"], "blind" in old.files) == ("notebook", "", 1, True)
    failed = views["failed.ipynb"]
    [cell] = material.loaded(store, failed, "cells")
    assert [output["text"] for output in cell["outputs"]] == ["NameError", ""]
    assert views["nothing.ipynb"].problem == "the notebook is damaged: the file has no cells"
