"""`[calibration]`: labels drawn from the plan, judges proven by them, and the rest for people."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from experiments.calibrating_material import BAD, GOOD, config_of, work_off
from experiments.judged_by_people import config_of as people_config
from experiments.judged_by_people import hire
from experiments.test_any_protocol import planned, run
from experiments.test_killed_judging import KILLED
from forking.child import ended
from openai_server import Answer, judged, read, serving
from reports.measuring import cell
from worksample.cli.judging_forecast import judging_of, show_calibration, show_judging
from worksample.cli.run_output import print_dry_run
from worksample.errors import ManifestError, PlanError
from worksample.experiments.config import PeopleConfig
from worksample.experiments.config_file import load
from worksample.experiments.planning.plan_preparation import prepare
from worksample.records import Evaluation, EvaluatorKind, Protocol, Purpose, Round
from worksample.reports.sections import measure
from worksample.results.calibration.config import CalibrationConfig
from worksample.results.calibration.label_draw import read_draw
from worksample.results.second_looks import ROUTED
from worksample.results.slot_results import slots_df
from worksample.store import Store, check

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def honest(request: dict[str, Any], count: int) -> Answer:
    """Passes what greets."""
    work = read(request).exhibits[0]
    return judged("yes", "Dear", input_tokens=100) if "Dear" in work else judged("no", "", None, input_tokens=100)


def greets(text: str) -> bool:
    return "Dear" in text


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")


def test_sample_is_labelled_and_unproven_judgments_go_to_people(tmp_path: Path) -> None:
    with serving(honest) as served, Store.open(tmp_path / "store", create=True) as store:
        config = config_of(tmp_path, served.base_url, {"ann": [GOOD, BAD, GOOD]})
        experiment = planned(store, config)
        first = run(store, experiment, config).status
        assert (first.finished, first.graded, first.complete) == (3, 3, True)
        by = {r.by: r for r in store.find(Round)}
        labels, judge = by[EvaluatorKind.PERSON], by[EvaluatorKind.JUDGE]
        assert (labels.purpose, labels.over, labels.experiment) == (Purpose.CALIBRATION, judge.id, experiment.id)
        draw = read_draw(store, labels)
        assert draw is not None and list(draw.counts.values()) == [(3, 2)]
        people, [ann, bob] = hire(store, "ann", "bob")
        assert work_off(people, ann, greets) == 2
        again = run(store, experiment, config).status
        # Two labels prove nothing: the third piece of work goes to people, and waits for them.
        assert (again.graded, again.waits_for_people, again.complete) == (2, 1, True)
        [routed] = [r for r in store.find(Round) if ROUTED in r.versions]
        assert (routed.purpose, routed.over, len(routed.subjects)) == (Purpose.ADJUDICATION, judge.id, 1)
        why = json.loads(store.blobs.read(routed.versions[ROUTED]))
        assert all("unproven" in reason for reason in why.values())
        assert work_off(people, bob, greets) == 1
        done = run(store, experiment, config).status
        assert (done.graded, done.waits_for_people) == (3, 0)
        assert len(store.find(Round)) == 3 and check(store, deep=True) == []
        assert len(store.find(Evaluation)) == 6


SLICK = "You again, with a smile"
"""Bad work that a kind judge takes for good."""
TASKS, GOOD_ONES = 60, 12


def kind_judge(request: dict[str, Any], count: int) -> Answer:
    """Passes what greets, and what smiles."""
    work = read(request).exhibits[0]
    word = "Dear" if "Dear" in work else "smile" if "smile" in work else ""
    return judged("yes", word) if word else judged("no", "", None)


def texts(slick: int) -> list[str]:
    """A fifth is good; `slick` pieces of the rest are what the judge falls for."""
    mixed = [GOOD] * GOOD_ONES + [SLICK] * slick + [BAD] * (TASKS - GOOD_ONES - slick)
    return [mixed[(n * 7) % TASKS] for n in range(TASKS)]


@pytest.mark.long(seconds=600)
@pytest.mark.thorough(quick="people/test_judge_labels.py::test_proven_judge_decides_and_one_below_threshold_does_not")
def test_judge_that_favours_one_agent_is_found_from_file_to_report(tmp_path: Path) -> None:
    """The judge passes 2.5 times as much as people would, nearly all of it the newest agent's."""
    with serving(kind_judge) as served, Store.open(tmp_path / "store", create=True) as store:
        work = {"old": texts(2), "new": texts(34)}
        config = config_of(tmp_path, served.base_url, work, calibration=CalibrationConfig(share=0.6, threshold=0.75))
        dates = {"old": date(2025, 1, 1), "new": date(2026, 5, 1)}
        config = config.replaced(agents=tuple(a.replaced(release_date=dates[str(a.name)]) for a in config.agents))
        experiment = planned(store, config)
        first = run(store, experiment, config).status
        assert (first.finished, first.graded, first.to_label) == (120, 120, 72)
        people, [ann, bob] = hire(store, "ann", "bob")
        assert work_off(people, ann, greets) == 72
        before = {s.id: s for s in measure(store, [experiment.id])}
        table = before["calibrated"]
        for name in ("old", "new", "all agents"):
            found = cell(table, name, "corrected")
            assert found.low is not None and found.high is not None and found.low <= 0.2 <= found.high
            assert found.counts.valid == (72 if name == "all agents" else 36)
        for name, factor in (
            ("old", 14 / 12),
            ("new", 46 / 12),
            ("newest models (2026-05-01)", 46 / 12),
            ("all agents", 2.5),
        ):
            over = cell(table, name, "overshoot")
            assert over.low is not None and over.low <= factor <= (over.high or math.inf)
        assert (cell(table, "newest models (2026-05-01)", "overshoot").low or 0) > 1.5
        named = {row.label: str(row.cells[1]) for row in before["favour"].rows if row.cells[2] == "named"}
        assert set(named) == {"new"} and "labels" in named["new"]
        standing = {row.label: row.cells[3] for row in before["proof"].rows}
        assert (standing["agent old"], standing["agent new"]) == ("proven", "refused")

        sent = run(store, experiment, config).status
        assert sent.waits_for_people > 24 and sent.to_label == 0
        work_off(people, bob, greets)
        work_off(people, ann, greets)
        done = run(store, experiment, config).status
        assert (done.waits_for_people, done.graded) == (0, 120)
        after = {s.id: s for s in measure(store, [experiment.id])}
        # What went to people is in no estimate.
        assert [r.cells[0] for r in after["calibrated"].rows] == [r.cells[0] for r in before["calibrated"].rows]
        rates = slots_df(store, experiment.id).group_by("agent_name").agg(pl.col("passed").mean())
        told = dict(rates.iter_rows())
        assert told["new"] == pytest.approx(0.2) and told["old"] == pytest.approx(0.2, abs=0.05)
        assert "calibration-work" in after


def test_effort_of_calibration_is_shown_before_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = config_of(tmp_path, "http://127.0.0.1:9/v1", {"ann": [GOOD] * 6, "bob": [BAD] * 6})
    config = config.replaced(people=PeopleConfig(pay=60, overlap=2))
    plan = prepare(config)
    judges, people = judging_of(plan, config)
    assert (judges.by, judges.items, judges.evaluations, judges.calls) == ("judge", 12, 12, 12)
    assert judges.cost == pytest.approx(12 * ((200_000 / 4 + 24 * 1500) + 2048 * 10) / 1e6)
    assert (people.by, people.items, people.evaluations, people.hours, people.cost) == ("person", 6, 12, 4.0, 240.0)
    show_judging([judges, people])
    show_calibration(plan)
    told = " ".join(capsys.readouterr().err.split())
    assert "12 questions, $1.28 at most" in told
    assert "6 submissions drawn at random to calibrate the judge, 4.0 hours at most" in told
    assert told.count("3 of 6") == 2 and "6 labels are too few" in told


def test_other_threshold_under_the_same_plan_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        config = config_of(tmp_path, "http://127.0.0.1:9/v1", {"ann": [GOOD]})
        experiment = planned(store, config)
        planned(store, config)
        [lock] = (store.logs.parent / "experiments" / experiment.id).glob("lock.json")
        assert json.loads(lock.read_text())["config"]["calibration"]["protocols"] == ["rubric"]
        for other in (CalibrationConfig(share=0.5, threshold=0.6), None):
            with pytest.raises(
                PlanError,
                match=r"\[calibration\].*these settings differ from those with which the experiment was planned",
            ):
                planned(store, config.replaced(calibration=other))
            with pytest.raises(PlanError, match="differ from those with which"):
                print_dry_run(config.replaced(calibration=other, store=str(tmp_path / "store")), as_json=True)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "give either share = 0.25 or labels = 20"),
        ({"share": 0.1, "labels": 3}, "give either share = 0.25 or labels = 20"),
        ({"share": 1.5}, "share"),
        ({"share": 0.1, "threshold": 0.4}, "threshold"),
        ({"share": 0.1, "strata": ["agents"]}, "agent"),
        ({"share": 0.1, "strata": ["agent", "agent"]}, "strata lists a value twice"),
        ({"share": 0.1, "treshold": 0.9}, "threshold"),
    ],
)
def test_invalid_table_is_refused_by_key(tmp_path: Path, table: dict[str, Any], says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        load(None, {"name": "x", "tasks": (str(tmp_path),), "agents": [{"harness": "scripted"}], "calibration": table})
    assert says in str(caught.value) and "calibration" in str(caught.value)


@pytest.mark.parametrize(
    ("protocol", "by", "asked", "says"),
    [
        ("rubric", "person", (), "nothing to calibrate: this experiment asks no judge"),
        ("rubric", "judge", (Protocol.HOLISTIC,), "protocol holistic does not use a judge"),
        ("pairwise", "person", (Protocol.PAIRWISE,), "protocol pairwise does not use a judge"),
    ],
)
def test_calibration_without_a_judge_is_refused(
    tmp_path: Path, protocol: str, by: str, asked: tuple[Protocol, ...], says: str
) -> None:
    config = people_config(tmp_path, protocol, by=by, calibration=CalibrationConfig(share=0.2, protocols=asked))
    with pytest.raises(PlanError, match=says):
        prepare(config)


@pytest.mark.long(seconds=300)
@pytest.mark.thorough(quick="people/test_judge_labels.py::test_round_killed_before_its_queue_is_completed[labels]")
def test_kills_in_every_state_give_the_same_labels_and_verdicts(tmp_path: Path) -> None:
    with serving(kind_judge) as served, Store.open(tmp_path / "store", create=True) as store:
        config = config_of(tmp_path, served.base_url, {"ann": [GOOD, SLICK, BAD, GOOD, SLICK, BAD]})
        experiment = planned(store, config)
        (tmp_path / "config.json").write_text(config.model_dump_json())

        def killed(point: str) -> None:
            done = ended("forking.code", KILLED, tmp_path / "store", tmp_path / "config.json", point)
            assert done.returncode == -9, (point, done.stderr[-2000:])
            # Others were under way: what was written and is not in the index yet comes in as with any run.
            store.sync()
            assert [str(fault) for fault in check(store, deep=True)] == []

        for point in ("closing", "judge", "waiting"):
            killed(point)
        assert run(store, experiment, config).status.to_label == 3
        [labels] = [r for r in store.find(Round) if r.purpose is Purpose.CALIBRATION]
        people, [ann, bob] = hire(store, "ann", "bob")
        assert work_off(people, ann, greets, most=1) == 1
        killed("begin")
        assert work_off(people, ann, greets) == 2
        killed("waiting")
        sent = [r for r in store.find(Round) if ROUTED in r.versions]
        assert run(store, experiment, config).status.waits_for_people == len(sent[0].subjects) >= 3
        work_off(people, bob, greets)
        killed("begin")
        done = run(store, experiment, config).status
        assert (done.graded, done.waits_for_people, done.to_label) == (6, 0, 0)
        assert [r for r in store.find(Round) if r.purpose is Purpose.CALIBRATION] == [labels]
        assert [r for r in store.find(Round) if ROUTED in r.versions] == sent
        told = slots_df(store, experiment.id).sort("task")["passed"].to_list()
        assert told == [True, False, False, True, False, False]
