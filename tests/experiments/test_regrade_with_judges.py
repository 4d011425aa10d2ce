"""`worksample grade` with judges: graders that ask one, and rounds that a judge answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli, cli_json
from experiments.calibrating_material import BAD, GOOD
from experiments.calibrating_material import config_of as pairs_config
from experiments.judged_by_people import config_of
from experiments.test_regrade import regradable
from grading.helpers_grading import bench
from openai_server import Answer, judged, read, serving
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.hand_in import HandInRequest, hand_in_and_grade
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.grading.grade_changes import votes_of_pairs
from worksample.models import JudgeConfig
from worksample.models.service_config import ServiceConfig
from worksample.python_api.experiment_run import options_of
from worksample.records import Evaluation, EvaluatorKind, Protocol, Purpose, Round
from worksample.results.calibration.config import CalibrationConfig
from worksample.results.calibration.label_rounds import labels_of
from worksample.results.pair_sampling import drawn_pairs
from worksample.results.slot_results import slots_df
from worksample.store import Store

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
MODEL, OTHER = "openai-api/local/judge-1", "openai-api/local/judge-2"
PROGRAMS = '[[criterion]]\nid = "right"\ntext = "The answer is right."\npoints = 2\n'


def by_model(request: dict[str, Any], count: int) -> Answer:
    """judge-1 finds everything in the first line, judge-2 nothing."""
    if request["model"] == "judge-2":
        return judged("no", "", None)
    said = [line[2:] for line in read(request).exhibits[0].splitlines()[1:]]
    return judged("yes", next(line for line in said if line.strip()))


def test_graders_that_ask_a_judge_are_regraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    world = regradable(bench(tmp_path, "asks", criteria=PROGRAMS, timeout=60))
    assert world.scores() == [None, None, None]
    with serving(by_model) as served:
        asked = ("--judge", f"judge={MODEL}", "--base-url", served.base_url, "--sandbox", "none")
        told = cli_json("grade", "x1", "--store", tmp_path / "store", *asked)
    assert (told["graded"], told["ungraded"], told["adopted"]) == (3, 0, True)
    assert world.scores() == [1.0, 1.0, 1.0]
    assert len(served.requests) == 3


def test_judges_round_is_regraded_by_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with Store.open(tmp_path / "store", create=True) as store, serving(by_model) as served:
        services = {"openai-api/local": ServiceConfig(base_url=served.base_url, retries=0)}
        judges = {"judge": JudgeConfig(model=MODEL)}
        config = config_of(tmp_path, "rubric", by="judge", judges=judges, services=services)
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        run_experiment(store, plan.experiment, options_of(config))
        assert slots_df(store, plan.experiment.id)["passed"].to_list() == [True, True]
        grade = ("grade", plan.experiment.id, "--store", tmp_path / "store", "--by", "judge")
        told = cli_json(*grade, "--judge", f"judge={OTHER}")
        assert (len(told["changes"]), told["adopted"]) == (2, True)
        assert slots_df(store, plan.experiment.id)["passed"].to_list() == [False, False]
        first, second = sorted(store.find(Round), key=lambda r: r.at)
        assert [r.by for r in (first, second)] == [EvaluatorKind.JUDGE] * 2
        assert (second.purpose, second.over) == (Purpose.REGRADE, first.id)
        assert len({e.evaluator for e in store.find(Evaluation)}) == 2
        refused = cli("grade", plan.experiment.id, "--store", tmp_path / "store")
        assert "no program grades protocol rubric" in refused.stderr


def contrary(request: dict[str, Any], count: int) -> Answer:
    """judge-1 prefers what greets, judge-2 what does not, wherever it stands."""
    one, two = ("Dear" in text for text in read(request).exhibits[:2])
    side = "first" if one > two else "second"
    turned = {"first": "second", "second": "first"}[side]
    return judged(side if request["model"] == "judge-1" else turned, "", None)


@pytest.mark.long(seconds=120)
@pytest.mark.thorough(quick="experiments/test_regrade_with_judges.py::test_judges_round_is_regraded_by_another_judge")
def test_pairs_are_regraded_by_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same pairs, those of work that came later among them; people's labels stand, and new work meets the new."""
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with Store.open(tmp_path / "store", create=True) as store, serving(contrary) as served:
        calibration = CalibrationConfig(share=0.5, threshold=0.5, each=1)
        work = {"good": [GOOD], "bad": [BAD]}
        config = pairs_config(tmp_path, served.base_url, work, "pairwise", calibration=calibration)
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        experiment = plan.experiment
        run_experiment(store, experiment, options_of(config))
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "letter.txt").write_text("Good day")
        hand_in_and_grade(
            store, HandInRequest(tmp_path / "made", tmp_path / "letter0", "erin", "person", experiment=experiment)
        )
        run_experiment(store, experiment, options_of(config))
        [first] = [r for r in store.find(Round) if r.by is EvaluatorKind.JUDGE and r.purpose is Purpose.GRADING]
        drawn, labels = drawn_pairs(store, first), labels_of(store, experiment.id, Protocol.PAIRWISE)
        assert len(drawn) == 3 and labels is not None
        grade = ("grade", experiment.id, "--store", tmp_path / "store", "--by", "judge", "--protocol", "pairwise")
        told = cli_json(*grade, "--judge", f"judge={OTHER}")
        assert (told["before"], told["graded"], told["ungraded"], told["adopted"]) == (first.id, 3, 0, True)
        assert "completion" in told["changes"][0]["reasons"][0]
        [second] = [r for r in store.find(Round) if r.by is EvaluatorKind.JUDGE and r.purpose is Purpose.REGRADE]
        assert drawn_pairs(store, second) == drawn
        before, after = (votes_of_pairs(store, round) for round in (first, second))
        turned = {"first": "second", "second": "first"}
        assert before and all(
            after[key] == [(turned[c], turned[q])] for key, [(c, q)] in before.items() if c != "equal"
        )
        again = labels_of(store, experiment.id, Protocol.PAIRWISE)
        assert again is not None and (again.round.id, again.draw.drawn) == (labels.round.id, labels.draw.drawn)
        asked = len(served.requests)
        run_experiment(store, experiment, options_of(config))
        assert len(served.requests) == asked
        listed = ("grade", "--submission", drawn[0][0], "--store", tmp_path / "store", *grade[4:])
        assert "pairs can only be judged again for a whole experiment" in cli(*listed).stderr
