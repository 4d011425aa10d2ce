"""The example notebook runs completely against a store, in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from reports.people_world import rli
from store import worlds
from worksample.reports.sections import MeasureConfig
from worksample.store import Store

SHOW = "\nprint(between.first, between.second, between.score.format_value(), changes['instance'].to_list())"
ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "notebook" / "figures.ipynb"


def run(store: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    script = folder / "figures.py"
    script.write_text("\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code") + SHOW)
    env = {**os.environ, "WORKSAMPLE_STORE": str(store), "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(folder)}
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=env, cwd=folder)


def test_notebook_runs_on_graded_work(tmp_path: Path) -> None:
    world = worlds.World()
    with worlds.planted(Store.open(tmp_path / "store", create=True), world) as store:
        for slot, score in enumerate((1.0, 0.5, 0.0, 0.0, 1.0, 1.0, None)):
            trial = world.trial(slot, f"t{slot}", slot + 1)
            made = world.submission(trial)
            store.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    done = run(tmp_path / "store", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "ann bob 25.0 ['report/may', 'report/june']\n"


def test_notebook_is_committed_without_output_and_says_where_to_start() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells if c["cell_type"] == "code")
    assert "worksample demo" in "".join(cells[0]["source"])


def test_every_setting_and_section_is_documented(tmp_path: Path) -> None:
    from worksample.reports.sections import measure

    page = (ROOT / "docs" / "reference/metrics.md").read_text()
    assert [name for name in MeasureConfig.__dataclass_fields__ if f"| `{name}` |" not in page] == []
    store = Store.open(tmp_path / "store", create=True)
    rli(store)
    assert [s.id for s in measure(store, ()) if f"`{s.id}`" not in page] == []
