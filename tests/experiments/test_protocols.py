"""Any protocol from plan to report: packages that no program grades, judged by people, resumed and reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.judged_by_people import config_of, hire, judge_all
from worksample.cli.show_run import options_of
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.preparing import commit_plan, prepare
from worksample.experiments.run import RunResult, run_experiment
from worksample.records import EvaluatorKind, Experiment, Protocol, Round
from worksample.reports import leaderboard
from worksample.store import Store, check
from worksample.verdicts.slots import slots_df

# The engine's, of a package that it uses.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def planned(store: Store, config: ExperimentConfig) -> Experiment:
    plan = prepare(config, store.blobs)
    commit_plan(store, plan)
    return plan.experiment


def run(store: Store, experiment: Experiment, config: ExperimentConfig) -> RunResult:
    return run_experiment(store, experiment, options_of(config))


@pytest.mark.parametrize(("protocol", "votes"), [("holistic", 3), ("rubric", 1)])
def test_people_alone_judge_it_from_plan_to_report(tmp_path: Path, protocol: str, votes: int) -> None:
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
