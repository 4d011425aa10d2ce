"""Comparison of two agents, or two experiments, on equal work."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.people_world import upbench
from store import worlds
from worksample.errors import PlanError, UsageError
from worksample.records import GradePayload, PartPayload, Slot
from worksample.reports.sections import MeasureConfig, compare, measure
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "store", create=True)
    world = worlds.planted(store, worlds.World()) and worlds.World()
    # ann: may 1, 0; june 0, 0. bob: may 1, 1; june 0.5 and open.
    for slot, score in enumerate((1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5)):
        trial = world.trial(slot, f"t{slot}", slot + 1)
        made = world.submission(trial)
        grade = GradePayload(
            score=score, parts=(PartPayload(name="sums", fraction=score, reason=f"row {slot} is wrong"),)
        )
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", instance=trial.instance, payload=grade))
    return store


def test_difference_is_second_minus_first_paired_by_instance(store: Store) -> None:
    found = compare(store, "ann", "bob")
    # may 1 - 0.5, june 0.5 - 0.
    assert found.score.value == pytest.approx(0.5)
    assert found.passed.value == pytest.approx(0.25)
    assert found.score.counts.special["instances"] == 2
    turned = compare(store, "bob", "ann")
    assert turned.score.value == pytest.approx(-0.5)


def test_changes_are_listed_with_place_and_reason(store: Store) -> None:
    changes = {c.instance: c for c in compare(store, "ann", "bob").changes}
    assert (changes["report/may"].first, changes["report/may"].second) == (0.5, 1.0)
    assert changes["report/may"].change == "gained"
    assert changes["report/may"].first_why == "sums: row 1 is wrong"
    assert changes["report/may"].second_why == ""
    assert changes["report/june"].change == "better"
    assert changes["report/june"].second_why == "sums: row 6 is wrong | pending"


def test_instance_missing_on_one_side_is_shown_and_not_counted(store: Store) -> None:
    store.commit(worlds.World().amend(worlds.AmendmentTarget.SUBMISSION, "s-t6", 40))
    found = compare(store, "ann", "bob")
    assert found.score.counts.special["first only"] == 1
    assert found.score.value == pytest.approx(0.5)
    assert {c.instance: c.change for c in found.changes} == {"report/may": "gained", "report/june": "first only"}
    assert compare(store, "ann", "bob", MeasureConfig(struck=False)).score.counts.special["instances"] == 2


def test_experiments_with_other_locks_are_refused(store: Store) -> None:
    world = worlds.World()
    lock = world.experiment.lock.replaced(roles={"judge": "other/model"})
    store.commit(world.experiment.replaced(id="x2", name="y", lock=lock))
    store.commit(world.round.replaced(id="r2", experiment="x2"))
    with pytest.raises(PlanError, match="roles"):
        compare(store, "x:ann", "y:ann")


def later(store: Store, name: str) -> None:
    """Another experiment, `x2`, in which ann alone did everything well."""
    world = worlds.World()
    ann = world.agents[0].id
    store.commit(
        world.experiment.replaced(id="x2", name=name, agents=(ann,)), world.round.replaced(id="r2", experiment="x2")
    )
    for n, instance in enumerate(world.instances):
        slot = Slot(id=f"y{n}", experiment="x2", agent=ann, instance=instance.id)
        trial = world.trial(n, f"y{n}", 50 + n).replaced(slot=slot.id, experiment="x2", instance=instance.id)
        made = world.submission(trial).replaced(experiment="x2")
        store.commit(slot, trial, made, world.evaluation(made.id, f"y{n}", 1.0, 60, round="r2", instance=instance.id))


def test_one_agent_in_two_experiments_is_compared(store: Store) -> None:
    later(store, "y")
    found = compare(store, "x:ann", "y")
    assert (found.first, found.second) == ("x: ann", "y: ann")
    assert found.experiments == ("x1", "x2")
    # may 1 - 0.5 and june 1 - 0.
    assert found.score.value == pytest.approx(0.75)
    both = measure(store, ["x", "y"], MeasureConfig(by="agent"))
    planned = {row.label: row.cells[0].counts.planned for row in both[0].rows if not isinstance(row.cells[0], str)}
    assert planned == {"ann": 6, "bob": 4}


def test_experiments_with_one_name_are_distinguished_by_id(store: Store) -> None:
    later(store, "x")
    found = compare(store, "x1:ann", "x")
    assert (found.first, found.second, found.experiments) == ("x1: ann", "x2: ann", ("x1", "x2"))


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ("ann", "zoe", "not an agent of x .ann, bob., nor an experiment"),
        ("ann", "x", "several agents: ann, bob"),
        ("ann", "ann", "same agent"),
        ("x:zoe", "ann", "'zoe' is not one of ann, bob"),
    ],
)
def test_unknown_names_are_explained(store: Store, a: str, b: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        compare(store, a, b)


def test_no_common_work_gives_no_number(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "other", create=True)
    worlds.planted(store, worlds.World())
    found = compare(store, "ann", "bob")
    assert (found.score.value, found.changes) == (None, ())
    assert "no instance" in found.score.reason


def test_experiment_with_one_agent_represents_it(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "up", create=True)
    upbench(store)
    with pytest.raises(UsageError, match="same agent"):
        compare(store, "ann", "x")
