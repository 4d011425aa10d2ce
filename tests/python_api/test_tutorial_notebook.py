"""The library's notebook runs as in a kernel: cell by cell, on a running loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "notebook" / "library.ipynb"
KERNEL = """
import asyncio, json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

async def main():
    # By this name Inspect tells that it is in a notebook: it then wants ipywidgets, and patches this loop.
    shell = InteractiveShell.instance(config=Config({"IPKernelApp": {"name": "a kernel"}}))
    for cell in json.load(open(sys.argv[1]))["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            done = await shell.run_cell_async(code, transformed_cell=shell.transform_cell(code))
            done.raise_error()
    assert "nest_asyncio" not in type(asyncio.get_running_loop()).__module__
    print(repr(shell.user_ns["run"]), shell.user_ns["index"], sorted(shell.user_ns["pictures"]))

asyncio.run(main())
"""


@pytest.mark.thorough(quick="python_api/test_python_library.py::test_script_runs_grades_inspects_and_continues")
@pytest.mark.box
@pytest.mark.long(seconds=20)
def test_notebook_cells_run(tmp_path: Path) -> None:
    words = [sys.executable, "-c", KERNEL, str(NOTEBOOK)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=400)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    last = done.stdout.strip().splitlines()[-1]
    assert "12 graded of 12 planned" in last and "'pass'" in last
    assert (tmp_path / "notebook-report" / "index.html").is_file()


def test_notebook_is_committed_without_output() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells if c["cell_type"] == "code")
