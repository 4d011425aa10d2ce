"""`[calibration]`: labels drawn from the plan, judges proven by them, and what goes to people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.calibrating_material import BAD, GOOD, config_of, work_off
from experiments.judged_by_people import hire
from experiments.test_protocols import planned, run
from openai_server import Answer, judged, read, serving
from worksample.calibration.drawing import read_draw
from worksample.records import Evaluation, EvaluatorKind, Purpose, Round
from worksample.store import Store, check
from worksample.verdicts.second_looks import ROUTED

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
