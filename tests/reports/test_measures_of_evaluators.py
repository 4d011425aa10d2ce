"""Programs, judges and people on equal work; corrected judges; failure tags; effort of judging."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reports.measuring import QUICK, cell, sections, strike
from reports.people_world import PeopleWorld, rli, upbench
from store import worlds
from worksample.metrics import CalibrationRules
from worksample.records import (
    Agent,
    AmendmentTarget,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Importance,
    PartPayload,
    Protocol,
    Purpose,
    Tags,
)
from worksample.reports.sections import measure
from worksample.store import Store

JUDGE, PERSON = EvaluatorKind.JUDGE, EvaluatorKind.PERSON


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def judged(world: PeopleWorld) -> None:
    """A judge and a second person grade the rubrics of `upbench`, too."""
    world.store.commit(Evaluator(id="j1", name="judge", type=JUDGE, version="1", at=worlds.START))
    world.round("j", Protocol.RUBRIC, overlap=1, by=JUDGE)
    for job, marks in enumerate([(True, True, True), (True, True, False), (False, True, False)]):
        world.rubric("j", f"s-ann-{job}-1", job, *marks, judge="j1")
    world.round("two", Protocol.RUBRIC, overlap=1, purpose=Purpose.RELIABILITY, over="r1")
    for job, marks in enumerate([(True, True, False), (True, True, False), (False, False, True)]):
        world.rubric("two", f"s-ann-{job}-1", job, *marks, judge="ivo")


def test_people_judges_and_programs_are_compared_by_criterion(store: Store) -> None:
    judged(upbench(store))
    table = sections(store)["side-by-side"]
    # Eva and Ivo on three jobs: 3 + 2 + 2 of 9 marks are equal.
    assert cell(table, "person with person, all criteria", "agreement").value == pytest.approx(7 / 9)
    assert cell(table, "person with person: job1: critical", "agreement").value == 1
    assert cell(table, "person with person: job1: important", "agreement").value == 0
    # The judge with what both people say: of nine, two are undecided between the people.
    assert cell(table, "judge with person, all criteria", "agreement").value == pytest.approx(5 / 7)
    assert cell(table, "judge with person, critical criteria", "agreement").counts.valid == 3


def test_disagreements_are_listed_with_the_submission(store: Store) -> None:
    judged(upbench(store))
    listed = sections(store)["disagreements"]
    found = {(row.cells[0], row.cells[1], row.cells[2], row.cells[3]) for row in listed.rows}
    assert ("optional", "judge", "person", "s-ann-0-1") in found
    assert ("important", "judge", "person", "s-ann-2-1") in found
    assert not any(row.cells[3] == "s-ann-3-1" for row in listed.rows)


def test_struck_evaluations_cause_no_disagreement(store: Store) -> None:
    judged(upbench(store))
    strike(store, AmendmentTarget.ROUND, "j")
    found = sections(store)
    assert "disagreements" not in found or all("judge" not in r.cells[1:3] for r in found["disagreements"].rows)
    assert "proof" not in found


def many(store: Store, jobs: int = 60, labels: int = 30, *, copied: bool = False) -> PeopleWorld:
    """Two agents on 60 jobs: a judge on all of it, passing a third of what people fail; people on half.

    copied: every second job is judged by another person, who says what the judge says.
    """
    agents = [Agent.of(n, "worker", model=f"m/{n}", release_date=d) for n, d in (("old", None), ("new", "2026-05-01"))]
    world = PeopleWorld(store, Protocol.RUBRIC, agents, [100.0] * jobs)
    store.commit(Evaluator(id="j1", name="judge", type=JUDGE, version="1", at=worlds.START))
    world.round("p", Protocol.RUBRIC, overlap=1)
    world.round("j", Protocol.RUBRIC, overlap=1, by=JUDGE)
    rng = np.random.default_rng(0)
    for agent in range(2):
        chosen = set(rng.choice(jobs, labels, replace=False).tolist())
        for job in range(jobs):
            good = bool(rng.random() < 0.4)
            subject = world.work(agent, job)
            kind = good or bool(rng.random() < (0.6 if agent else 0.1))
            person = ("ivo", kind) if copied and job % 2 else ("eva", good)
            for round, judge, mark in (("p", *person), ("j", "j1", kind)):
                if round == "j" or job in chosen:
                    part = PartPayload(name="c", importance=Importance.CRITICAL, fraction=float(mark))
                    world.say(round, subject, job, GradePayload(score=float(mark), parts=(part,)), judge)
    return world


def test_judge_is_corrected_proven_and_its_favours_named(store: Store) -> None:
    many(store)
    found = sections(store, calibration=CalibrationRules(threshold=0.7))
    table = found["calibrated"]
    corrected, alone = cell(table, "new", "corrected"), cell(table, "new", "judge alone")
    assert corrected.low is not None and corrected.low < 0.4 < (corrected.high or 0)
    assert alone.value is not None and alone.value > 0.6 and alone.low is None
    over = cell(table, "new", "overshoot")
    assert over.value is not None and over.value > 1.3
    assert corrected.counts.valid == 30 and corrected.counts.planned == 60
    standings = {row.label: row.cells[3] for row in found["proof"].rows}
    assert standings["agent old"] == "proven" and standings["agent new"] != "proven"
    named = {row.label: row.cells for row in found["favour"].rows if row.cells[2] == "named"}
    assert set(named) == {"new"} and "kinder to new" in str(named["new"][1]) and "labels" in str(named["new"][1])


def test_person_who_copies_the_judge_is_named_by_number(store: Store) -> None:
    many(store, copied=True)
    rows = {row.label: row.cells for row in sections(store)["favour"].rows}
    assert rows["person 2"][0] == "person" and rows["person 2"][2] == "named"
    assert "ivo" not in json.dumps([s.plain() for s in sections(store).values() if s.id == "favour"])


@pytest.mark.thorough(
    quick="reports/test_measures_of_evaluators.py::test_judge_is_corrected_proven_and_its_favours_named"
)
def test_few_labels_correct_nothing(store: Store) -> None:
    many(store, jobs=25, labels=3)
    table = sections(store)["calibrated"]
    assert cell(table, "new", "corrected").value is None
    assert cell(table, "new", "people's labels alone").method.startswith("exact")


def failing(store: Store) -> PeopleWorld:
    world = rli(store)
    world.round("t", Protocol.HOLISTIC, overlap=2, purpose=Purpose.FAILURES)
    for project, (eva, ivo) in enumerate(
        [(("incomplete",), ("incomplete", "corrupt")), (("incomplete",), ()), ((), ())]
    ):
        world.say("t", f"s-bob-{project}-1", project, Tags(tags=eva), "eva", minutes=10.0)
        world.say("t", f"s-bob-{project}-1", project, Tags(tags=ivo), "ivo", minutes=20.0)
    return world


def test_failures_are_counted_by_agent_with_intervals_and_agreement(store: Store) -> None:
    failing(store)
    found = sections(store)
    table = found["failures"]
    incomplete = cell(table, "bob", "incomplete")
    assert incomplete.value == pytest.approx(0.5) and incomplete.counts.valid == 3 and incomplete.high is not None
    assert cell(table, "bob", "corrupt").value == pytest.approx(0.5 / 3)
    assert cell(table, "bob", "nothing wrong").value == pytest.approx(0.5)
    assert cell(table, "ann", "incomplete").value is None
    assert cell(found["failure-agreement"], "incomplete", "agreement").value == pytest.approx(2 / 3)


def test_minutes_and_pay_of_judging_are_reported(store: Store) -> None:
    failing(store)
    table = sections(store, hourly=30.0)["judging-time"]
    (row,) = table.rows
    minutes = row.cells[0]
    assert not isinstance(minutes, str) and minutes.value == 15
    each = row.cells[2]
    assert not isinstance(each, str) and each.value == 30
    assert row.cells[4] == "45.00"
    assert sections(store)["judging-time"].rows[0].cells[4] == "-"


def test_evaluators_are_paid_at_their_own_rate(store: Store) -> None:
    world = failing(store)
    paid = Evaluator(id="pia", name="pia", type=PERSON, standing='{"pay_rate": 60.0}', at=worlds.START)
    store.commit(paid)
    world.say("t", "s-bob-3-1", 3, Tags(tags=()), "pia", minutes=10.0)
    assert sections(store)["judging-time"].rows[0].cells[4] == "10.00 or more"
    assert sections(store, hourly=30.0)["judging-time"].rows[0].cells[4] == "55.00"


def test_sections_are_missing_without_judges_and_tags(store: Store) -> None:
    rli(store)
    found = {s.id for s in measure(store)}
    assert not found & {"side-by-side", "disagreements", "calibrated", "proof", "favour", "failures", "judging-time"}
    assert QUICK.resamples == 50 and PERSON is not JUDGE
