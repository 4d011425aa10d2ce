"""Release notes of Quaymark's `sw-release`, judged in addition to the program's checks."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, judged, read, serving
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.models import JudgeConfig
from worksample.models.service_config import ServiceConfig
from worksample.python_api.experiment_run import options_of
from worksample.results.result_set import ResultSet
from worksample.store import Store
from worksample.tasks import find_suite

pytestmark = [
    pytest.mark.box, pytest.mark.workplace, pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]  # fmt: skip
ROOT = find_suite("quaymark").parent
GOOD, BAD = "so that you can act before goods spoil", "after a refactoring of the telemetry pipeline"


def reader(request: dict[str, Any], count: int) -> Answer:
    """Says yes where the notes say what planners can do now, and quotes it."""
    seen = read(request)
    assert "what planners or drivers can do now" in seen.words
    notes = next((place for place, text in enumerate(seen.exhibits, 1) if GOOD in text), None)
    return judged("yes", GOOD, notes) if notes else judged("no", "", None, reason="it speaks of a pipeline")


def scripts(folder: Path) -> dict[str, Path]:
    """Two agents that do all of it, one of them in words that nobody outside understands."""
    found = {}
    for name in ("plain", "inside"):
        task = folder / name / "tasks/sw-release/cases/reference"
        task.mkdir(parents=True)
        shutil.copytree(ROOT / "agents", folder / name / "agents")
        text = (ROOT / "tasks/sw-release/cases/reference/script.toml").read_text()
        assert GOOD in text
        (task / "script.toml").write_text(text if name == "plain" else text.replace(GOOD, BAD))
        found[name] = folder / name / "tasks/*/cases/reference/script.toml"
    return found


@pytest.mark.thorough(quick="experiments/test_any_protocol.py::test_round_waits_until_a_judge_is_configured")
@pytest.mark.long(seconds=60)
def test_release_notes_wait_for_a_judge_and_get_its_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    agents = (AgentConfig(harness="scripted", name=name, script=str(path)) for name, path in scripts(tmp_path).items())
    config = ExperimentConfig(
        name="release", agents=tuple(agents), tasks=(str(ROOT / "tasks/sw-release"),), author="tester", parallel=1
    )
    with Store.open(tmp_path / "store", create=True) as store, serving(reader) as served:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        first = run_experiment(store, plan.experiment, options_of(config)).status
        assert (first.finished, first.waits_for_judge, first.ungraded, first.complete) == (2, 2, 0, True)
        services = {"openai-api/local": ServiceConfig(base_url=served.base_url, retries=0)}
        judge = {"judge": JudgeConfig(model="openai-api/local/judge-1")}
        config = config.replaced(judges=judge, services=services)
        later = run_experiment(store, plan.experiment, options_of(config)).status
        assert (later.waits_for_judge, later.ungraded) == (0, 0)
        frame = ResultSet(store, [plan.experiment]).frame(plan.experiment.lock.protocol)
        scores = dict(frame.select("agent_name", "score").rows())
    assert scores == {"plain": pytest.approx(1.0), "inside": pytest.approx(8 / 9)}
    assert len(served.requests) == 2
