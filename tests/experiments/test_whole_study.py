"""A whole study: a table of jobs, boxes, experts in the app, two arms, two re-attempts, the report and advice."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from cli.run_cli import cli
from worksample.reports.sections import measure
from worksample.store import Store

SOURCE = Path(__file__).parents[2] / "benchmarks/study.py"


@pytest.mark.box
@pytest.mark.long(seconds=90)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.thorough(quick="experiments/test_chains.py::test_chains_continue_as_people_judge_until_nothing_is_due")
def test_study_runs_from_table_to_advice(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("benchmark_study", SOURCE)
    assert spec and spec.loader
    study = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = study
    spec.loader.exec_module(study)
    parts = {p["part"]: p["made"] for p in study.run_study(tmp_path / "study", 24)}
    assert parts["jobs in"] == parts["qualified"] == parts["attempts 1"] == parts["gradings 1"] == 24
    # Every work was judged, and what came to its end is not worked on again.
    assert parts["gradings 1"] + parts["gradings 2"] + parts["gradings 3"] == parts["the end"] == parts["attempts 3"]
    with Store.open(tmp_path / "study/store") as store:
        sections = {s.id: s for s in measure(store)}
    assert [s.fault for s in sections.values() if s.fault] == []
    assert {"performance", "feedback-regions", "feedback-by", "within-k"} <= set(sections)
    assert [row.label for row in sections["performance"].rows] == ["clerk (alone)", "clerk (experts)"]
    table = tmp_path / "list.csv"
    table.write_text("title,category,value,hours\nWrite a short offer to the client,Writing,100,1\n")
    done = cli("advise", table, "--store", tmp_path / "study/store", "--wage", 50, "--json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["advice"][0]["chances"]) == {"AI", "AI with people", "people"}
    assert (tmp_path / "study/report/index.html").exists()
