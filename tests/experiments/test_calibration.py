"""`[calibration]`: labels drawn from the plan, judges proven by them, and what goes to people."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from experiments.calibrating_material import BAD, GOOD, config_of, work_off
from experiments.judged_by_people import hire
from experiments.test_protocols import planned, run
from openai_server import Answer, judged, read, serving
from reports.measuring import cell
from worksample.calibration.config import CalibrationConfig
from worksample.calibration.drawing import read_draw
from worksample.records import Evaluation, EvaluatorKind, Purpose, Round
from worksample.reports.sections import measure
from worksample.store import Store, check
from worksample.verdicts.second_looks import ROUTED
from worksample.verdicts.slots import slots_df

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


def test_a_sample_is_labelled_and_what_an_unproven_judge_said_goes_to_people(tmp_path: Path) -> None:
    with serving(honest) as served, Store.open(tmp_path / "store", create=True) as store:
        config = config_of(tmp_path, served.base_url, {"ann": [GOOD, BAD, GOOD, BAD]})
        experiment = planned(store, config)
        first = run(store, experiment, config).status
        assert (first.finished, first.graded, first.complete) == (4, 4, True)
        by = {r.by: r for r in store.find(Round)}
        labels, judge = by[EvaluatorKind.PERSON], by[EvaluatorKind.JUDGE]
        assert (labels.purpose, labels.over, labels.experiment) == (Purpose.CALIBRATION, judge.id, experiment.id)
        draw = read_draw(store, labels)
        assert draw is not None and list(draw.counts.values()) == [(4, 2)]
        people, [ann, bob] = hire(store, "ann", "bob")
        assert work_off(people, ann, greets) == 2
        again = run(store, experiment, config).status
        # Two labels prove nothing: the other two pieces of work go to people, and wait for them.
        assert (again.graded, again.waits_for_people, again.complete) == (2, 2, True)
        [routed] = [r for r in store.find(Round) if ROUTED in r.versions]
        assert (routed.purpose, routed.over, len(routed.subjects)) == (Purpose.ADJUDICATION, judge.id, 2)
        why = json.loads(store.blobs.read(routed.versions[ROUTED]))
        assert all("unproven" in reason for reason in why.values())
        assert work_off(people, bob, greets) == 2
        done = run(store, experiment, config).status
        assert (done.graded, done.waits_for_people) == (4, 0)
        assert len(store.find(Round)) == 3 and check(store, deep=True) == []
        assert len(store.find(Evaluation)) == 8


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
@pytest.mark.thorough(quick="people/test_labels.py::test_a_proven_judge_decides_and_one_below_the_threshold_does_not")
def test_a_judge_that_is_kind_to_one_agent_from_the_file_to_the_report(tmp_path: Path) -> None:
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
