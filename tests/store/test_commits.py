"""Committing records and reading them back."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from records.strategies import records
from store.views import live
from store.worlds import World, planted
from worksample.errors import Cause, RecordConflict, RecordMissing, UsageError
from worksample.records import (
    Agent,
    AmendmentTarget,
    Ending,
    EvaluationOutcome,
    Record,
    Slot,
    Trial,
    digest_bytes,
)
from worksample.records import Evaluation as Said
from worksample.store import Store


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def store(tmp_path: Path, world: World) -> Store:
    return planted(Store.open(tmp_path / "store", create=True), world)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(record=records)
def test_every_kind_of_record_is_read_back_equal(tmp_path_factory: pytest.TempPathFactory, record: Record) -> None:
    with Store.open(tmp_path_factory.mktemp("any") / "store", create=True) as store:
        store.commit(record)
        assert store.get(type(record), record.id) == record
        assert store.find(type(record)) == [record]


def test_commit_is_one_object_named_by_its_content(store: Store, world: World) -> None:
    before = set(store.objects.digests())
    trial = world.trial(0, "t1")
    digest = store.commit(trial, world.submission(trial))
    assert set(store.objects.digests()) - before == {digest}
    data = (Path(store.name) / store.objects.all()[digest]).read_bytes()
    assert digest_bytes(data) == digest
    said = json.loads(data)
    assert [e["kind"] for e in said["records"]] == ["trial", "submission"]
    assert said["format"] == 1


def test_repeated_commit_changes_nothing(store: Store, world: World) -> None:
    trial = world.trial(0, "t1")
    digest = store.commit(trial)
    count = len(store.objects.digests())
    assert store.commit(trial) == digest
    assert store.commit(trial, trial) == digest
    assert len(store.objects.digests()) == count
    both = store.commit(trial, world.submission(trial))
    assert [r.kind for r in store.objects.read(both, store.objects.all()[both]).records] == ["submission"]


def test_conflicting_record_is_refused_with_its_whole_commit(store: Store, world: World) -> None:
    store.commit(world.trial(0, "t1"))
    count = len(store.objects.digests())
    with pytest.raises(RecordConflict, match="a different trial") as caught:
        store.commit(world.trial(1, "t2"), world.trial(0, "t1", steps=9))
    assert caught.value.where == "t1"
    assert len(store.objects.digests()) == count
    with pytest.raises(RecordMissing):
        store.get(Trial, "t2")
    with pytest.raises(RecordConflict):
        store.commit(world.trial(1, "t3"), world.trial(1, "t3", steps=9))


def test_empty_commit_is_a_mistake(store: Store) -> None:
    with pytest.raises(UsageError):
        store.commit()


def test_records_are_found_by_columns(store: Store, world: World) -> None:
    store.commit(world.trial(0, "late", 3), world.trial(0, "early", 1), world.trial(2, "other", 2, Cause.SANDBOX_LOST))
    slot = world.slots[0].id
    assert [t.id for t in store.find(Trial)] == ["early", "other", "late"]
    assert [t.id for t in store.find(Trial, slot=slot)] == ["early", "late"]
    assert [t.id for t in store.find(Trial, slot=slot, live=True)] == ["early"]
    assert [t.id for t in store.find(Trial, ending=Ending.FAILED)] == ["other"]
    assert [t.id for t in store.find(Trial, id=["late", "early", "none"])] == ["early", "late"]
    assert [t.id for t in store.find(Trial, cause=None)] == ["early", "late"]
    store.commit(world.evaluation("s-late", "e1", None))
    assert [e.id for e in store.find(Said, outcome=EvaluationOutcome.FAILED)] == ["e1"]
    for bad in ("nonsense", "body"):
        with pytest.raises(UsageError, match="next: one of id, slot, experiment"):
            store.find(Trial, **{bad: 1})


def test_missing_record_is_reported(store: Store) -> None:
    with pytest.raises(RecordMissing) as caught:
        store.get(Agent, "ghost")
    assert caught.value.next


def test_open_slots_lack_a_live_finished_trial(store: Store, world: World) -> None:
    assert len(store.open_slots("x1")) == 8
    assert store.open_slots("other") == []
    order = [(s.repeat, s.instance, s.agent) for s in store.open_slots("x1")]
    assert order == sorted(order)
    store.commit(world.trial(0, "done"), world.trial(1, "limit", cause=Cause.LIMIT_TIME))
    store.commit(world.trial(2, "lost", cause=Cause.SANDBOX_LOST), world.trial(3, "off", cause=Cause.CANCELLED))
    left = {s.id for s in store.open_slots("x1")}
    assert left == {s.id for s in world.slots[2:]}
    store.commit(world.amend(AmendmentTarget.TRIAL, "done", 9))
    assert {s.id for s in store.open_slots("x1")} == left | {world.slots[0].id}
    assert (store.tries(world.slots[0].id), store.tries(world.slots[7].id)) == (1, 0)
    barred = Slot(id="n", experiment="x1", agent="a", instance="i", not_attemptable="needs vision")
    store.commit(barred)
    assert barred not in store.open_slots("x1")
    assert barred in store.find(Slot, experiment="x1")


def test_first_finished_trial_of_a_slot_is_live_whatever_the_order(store: Store, world: World) -> None:
    slot = world.slots[0].id
    store.commit(world.trial(0, "failed", 0, Cause.SANDBOX_LOST))
    assert live(store) == {}
    store.commit(world.trial(0, "b", 2))
    assert live(store) == {slot: "b"}
    store.commit(world.trial(0, "c", 3))
    assert live(store) == {slot: "b"}
    store.commit(world.trial(0, "a", 2))
    assert live(store) == {slot: "a"}, "of two that ended together the smaller id is live"
    store.commit(world.amend(AmendmentTarget.TRIAL, "a", 9))
    assert live(store) == {slot: "b"}
    store.commit(world.amend(AmendmentTarget.TRIAL, "b", 10), world.amend(AmendmentTarget.TRIAL, "c", 11))
    assert live(store) == {}
    from worksample.records import AmendmentAction

    store.commit(world.amend(AmendmentTarget.TRIAL, "c", 12, AmendmentAction.RESTORE))
    assert live(store) == {slot: "c"}


def test_amendment_may_come_before_its_target(store: Store, world: World) -> None:
    store.commit(world.amend(AmendmentTarget.TRIAL, "t1", 1))
    store.commit(world.trial(0, "t1"))
    assert live(store) == {}


def test_threads_share_a_store(store: Store, world: World) -> None:
    failures: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for i in range(5):
                trial = world.trial(n, f"t{n}-{i}", i)
                store.commit(trial, world.submission(trial))
                assert store.get(Trial, trial.id) == trial
        except Exception as e:  # noqa: BLE001 - a thread's failure must reach the test
            failures.append(e)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    assert len(store.find(Trial)) == 40
    assert live(store) == {s.id: f"t{n}-0" for n, s in enumerate(world.slots)}


def test_leases_are_exclusive(store: Store) -> None:
    assert store.lease("slot", "a", 60)
    assert store.lease("slot", "a", 60)
    assert not store.lease("slot", "b", 60)
    assert store.renew("slot", "a", 60)
    assert not store.renew("slot", "b", 60)
    store.release("slot", "b")
    assert not store.lease("slot", "b", 60)
    store.release("slot", "a")
    assert store.lease("slot", "b", 0)
    assert not store.renew("slot", "b", 60), "it ran out"
    assert store.lease("slot", "a", 60), "it ran out"
