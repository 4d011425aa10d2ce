"""Any protocol from plan to report: packages without a program grader, judged by people, resumed and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.judged_by_people import config_of, hire, judge_all
from openai_server import Answer, judged, serving
from worksample.cli.judging_forecast import judging_of
from worksample.experiments.config import ExperimentConfig, PeopleConfig
from worksample.experiments.experiment_runner import RunResult, run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.models import JudgeConfig
from worksample.models.service_config import ServiceConfig
from worksample.python_api.experiment_run import options_of
from worksample.records import EvaluatorKind, Experiment, Protocol, Round
from worksample.reports import leaderboard
from worksample.results.slot_results import slots_df
from worksample.store import Store, check

# The engine's, of a package that it uses.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def planned(store: Store, config: ExperimentConfig) -> Experiment:
    plan = prepare(config, store.blobs)
    commit_plan(store, plan)
    return plan.experiment


def run(store: Store, experiment: Experiment, config: ExperimentConfig) -> RunResult:
    return run_experiment(store, experiment, options_of(config))


@pytest.mark.quick("holistic-3")
@pytest.mark.parametrize(("protocol", "votes"), [("holistic", 3), ("rubric", 1)])
def test_people_alone_judge_from_plan_to_report(tmp_path: Path, protocol: str, votes: int) -> None:
    config = config_of(tmp_path, protocol)
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        assert experiment.lock.protocols == (Protocol(protocol),)
        first = run(store, experiment, config).status
        assert (first.finished, first.graded, first.waits_for_people, first.ungraded) == (2, 0, 2, 0)
        assert first.complete
        [round] = store.find(Round)
        assert (round.by, round.overlap, round.experiment) == (EvaluatorKind.PERSON, votes, experiment.id)
        assert "waived_pilot" in " ".join(round.versions)
        people, accounts = hire(store, "ann", "bob", "cem")
        assert judge_all(people, accounts[:votes]) == 2 * votes
        after = run(store, experiment, config).status
        assert (after.graded, after.waits_for_people, after.complete) == (2, 0, True)
        assert store.find(Round) == [round]
        assert slots_df(store, experiment.id)["passed"].to_list() == [True, True]
        assert leaderboard(store, [experiment.id]).rows
        assert check(store, deep=True) == []


def kind(request: dict[str, Any], count: int) -> Answer:
    """Finds everything that it is asked for in the greeting."""
    return judged("yes", "Dear", input_tokens=100)


@pytest.mark.box
def test_round_waits_until_a_judge_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    config = config_of(tmp_path, "rubric", by="judge")
    with Store.open(tmp_path / "store", create=True) as store, serving(kind) as served:
        experiment = planned(store, config)
        first = run(store, experiment, config).status
        assert (first.finished, first.graded, first.waits_for_judge, first.complete) == (2, 0, 2, True)
        [round] = store.find(Round)
        assert round.by is EvaluatorKind.JUDGE
        judges = {"judge": JudgeConfig(model="openai-api/local/judge-1")}
        services = {"openai-api/local": ServiceConfig(base_url=served.base_url, retries=0)}
        later = run(store, experiment, config.replaced(judges=judges, services=services)).status
        assert (later.graded, later.waits_for_judge, later.ungraded) == (2, 0, 0)
        assert store.find(Round) == [round]
        assert slots_df(store, experiment.id)["passed"].to_list() == [True, True]


def test_effort_of_judging_is_known_before_a_run(tmp_path: Path) -> None:
    judges = {"judge": JudgeConfig(model=("openai-api/local/a", "openai-api/local/b"), repeats=2, rounds=("rubric",))}
    config = config_of(tmp_path, "holistic", "rubric", by="judge", people=PeopleConfig(pay=60), judges=judges)
    config = config.replaced(protocols=("holistic", "rubric"), repeats=5)
    told = judging_of(prepare(config), config)
    assert [(t.protocol, t.by, t.items, t.evaluations, t.hours, t.cost) for t in told] == [
        ("holistic", "person", 10, 30, 10.0, 600.0),
        ("rubric", "judge", 10, 40, None, None),
    ]
    unpaid = judging_of(prepare(config), config.replaced(people=PeopleConfig(overlap=1), judges={}))
    assert [(t.evaluations, t.hours, t.cost) for t in unpaid] == [(10, pytest.approx(10 / 3), None), (None, None, None)]
