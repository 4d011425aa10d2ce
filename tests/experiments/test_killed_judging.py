"""A package judged by programs, judges and people, killed in every state: the verdicts stay the same."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from experiments.judged_by_people import config_of, hire
from experiments.test_any_protocol import planned, run
from openai_server import Answer, judged, serving
from worksample.experiments.config import ExperimentConfig
from worksample.models import JudgeConfig
from worksample.models.service_config import ServiceConfig
from worksample.people import Account, People
from worksample.records import Evaluation, Evaluator, Experiment, Round
from worksample.results.result_set import ResultSet
from worksample.store import Store, check

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

CRITERIA = """
[[criterion]]
id = "named"
text = "Names the person."
points = 2

[[criterion]]
id = "kind"
text = "Greets the person."
points = 1
by = "judge"

[[criterion]]
id = "style"
text = "Is well put."
points = 1
by = "person"
"""
GRADER = """
from worksample.kit import Case, Check, Grade, checklist


def grade(case: Case) -> Grade:
    return checklist(case, named=lambda: Check(float("ada" in case.text("letter.txt")), "names Ada"))
"""
KILLED = """
import os, sys
from dataclasses import replace
from pathlib import Path
from worksample.python_api.experiment_run import options_of
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.run_listener import SilentListener
from worksample.records import Experiment
from worksample.store import Store

point = sys.argv[3]

def kill(here):
    if here == point:
        os.kill(os.getpid(), 9)

class Kills(SilentListener):
    def begin(self, tally):
        kill("begin")

    def on_close(self, trial, instance):
        kill("closing")

    def on_grade(self, evaluation, submission, instance):
        kill("judge" if evaluation.evaluator.startswith("judge.") else "program")

config = ExperimentConfig.model_validate_json(Path(sys.argv[2]).read_bytes())
store = Store.open(sys.argv[1])
options = options_of(config, graders=1)

def fill(*words):
    came = options.people(*words)
    kill("waiting")
    return came

[experiment] = store.find(Experiment)
run_experiment(store, experiment, replace(options, people=fill), Kills())
"""


def three_kinds(folder: Path, base_url: str) -> ExperimentConfig:
    services = {"openai-api/local": ServiceConfig(base_url=base_url, retries=0)}
    judges = {"judge": JudgeConfig(model="openai-api/local/judge-1")}
    config = config_of(folder, "program", judges=judges, services=services)
    (folder / "letter" / "criteria.toml").write_text(CRITERIA)
    (folder / "letter" / "grade.py").write_text(GRADER)
    return config


def finds_the_greeting(request: dict[str, Any], count: int) -> Answer:
    return judged("yes", "Dear")


def one_answer(people: People, account: Account) -> bool:
    item = people.drafting.claim(account)
    if item is not None:
        said = {"marks": {"style": "fail"}, "feedback": {"style": "it is curt"}}
        people.judging.submit(item.id, account, said, f"{item.id} {account.id}", 45)
    return item is not None


def verdicts(store: Store, experiment: Experiment) -> list[tuple[str, str, float, bool]]:
    frame = ResultSet(store, [experiment]).frame(experiment.lock.protocol).sort("instance_name")
    return frame.select("instance_name", "state", "score", "passed").rows()


@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick="experiments/test_any_protocol.py::test_round_waits_until_a_judge_is_configured")
def test_kills_in_every_state_give_the_same_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with serving(finds_the_greeting) as served, Store.open(tmp_path / "store", create=True) as store:
        config = three_kinds(tmp_path, served.base_url)
        experiment = planned(store, config)
        (tmp_path / "config.json").write_text(config.model_dump_json())

        def killed(point: str) -> None:
            words = [sys.executable, "-c", KILLED, str(tmp_path / "store"), str(tmp_path / "config.json"), point]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == -9, (point, done.stderr[-2000:])
            # A commit that was on its way leaves its object, which the next one who looks takes in.
            faults = [str(fault) for fault in check(store, deep=True)]
            assert [fault for fault in faults if "an object is not in the index" not in fault] == []
            assert "valid" not in {state for _, state, *_ in verdicts(store, experiment)} or point == "begin"

        for point in ("closing", "program", "judge", "waiting"):
            killed(point)
        status = run(store, experiment, config).status
        assert (status.finished, status.waits_for_people, status.complete) == (2, 2, True)
        people, [ann] = hire(store, "ann")
        assert one_answer(people, ann)
        half = verdicts(store, experiment)
        killed("begin")
        assert verdicts(store, experiment) == half
        assert sorted(state for _, state, *_ in half) == ["ungraded", "valid"]
        assert one_answer(people, ann) and not one_answer(people, ann)
        killed("begin")
        assert run(store, experiment, config).status.graded == 2
        assert verdicts(store, experiment) == [("ada", "valid", 0.75, False), ("grace", "valid", 0.25, False)]
        assert len(store.find(Round)) == 3
        kinds = {e.id: e.type.value for e in store.find(Evaluator)}
        made = Counter((kinds[e.evaluator], e.subject) for e in store.find(Evaluation))
        assert len(made) == 6 and set(made.values()) == {1}
