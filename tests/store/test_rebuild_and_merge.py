"""Rebuilding, merging and syncing restore the earlier state."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forking.child import ended
from running.profiles import examples
from store.views import damage, everything, live
from store.worlds import World, at, histories, planted
from worksample.errors import RecordConflict, UsageError
from worksample.records import Agent, Experiment, Record, Task, Trial, digest_bytes
from worksample.store import Store, check, merge, rebuild
from worksample.store.commit_objects import BrokenObject, draft, pack

WORLD = World()


def fresh(folder: Path, *histories: list[list[Record]]) -> Store:
    store = planted(Store.open(folder, create=True), WORLD)
    for history in histories:
        for records in history:
            store.commit(*records)
    return store


@settings(max_examples=examples(10), deadline=None)
@given(history=histories(WORLD), data=st.data())
def test_rebuild_changes_nothing_whatever_the_order_of_commits(
    tmp_path_factory: pytest.TempPathFactory, history: list[list[Record]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("rebuild")
    with fresh(folder / "a", history) as store:
        before = everything(store)
        assert all("but the store lacks it" in f.what for f in damage(store)), "amendments may name unknown records"
        count = rebuild(store)
        assert everything(store) == before
        assert count == sum(len(records) for records in before.values() if records and "id" in records[0])
    with fresh(folder / "b", data.draw(st.permutations(history))) as other:
        assert everything(other) == before


@settings(max_examples=examples(8), deadline=None)
@given(one=histories(WORLD, 5), two=histories(WORLD, 5))
def test_merge_is_symmetric_and_idempotent(
    tmp_path_factory: pytest.TempPathFactory, one: list[list[Record]], two: list[list[Record]]
) -> None:
    two = [[_renamed(r) for r in records] for records in two]
    folder = tmp_path_factory.mktemp("merge")
    with fresh(folder / "a", one) as a, fresh(folder / "b", two) as b, fresh(folder / "c", one) as c:
        a.blobs.put(b"only in a")
        digest = b.blobs.put(b"only in b")
        merge(a, b)
        merge(b, c)
        assert everything(a) == everything(b)
        assert a.blobs.read(digest) == b"only in b"
        before = everything(a)
        # `c` holds what `a` holds, in objects of its own time: they come in and change nothing.
        merge(a, b)
        assert everything(a) == before
        assert merge(a, b) == 0
        rebuild(a)
        assert everything(a) == before


def _renamed(record: Record) -> Record:
    """Another machine's trials, submissions, grades and amendments have ids of their own."""
    own = re.compile(r"^(t|s-t|e|p|a)\d+$")
    names = ("id", "trial", "subject", "second", "target_id")
    values = {name: getattr(record, name, None) for name in names}
    return record.replaced(**{name: f"2-{value}" for name, value in values.items() if value and own.match(value)})


def test_contradictory_merge_copies_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path / "a") as a, fresh(tmp_path / "b") as b:
        a.commit(WORLD.trial(0, "t1"))
        b.commit(WORLD.trial(0, "t0"))
        b.commit(WORLD.trial(0, "t1", steps=9))
        before = everything(a)
        with pytest.raises(RecordConflict, match="a different trial"):
            merge(a, b)
        assert everything(a) == before
        with pytest.raises(UsageError, match="itself"):
            merge(a, a)


def test_two_machines_with_equal_notes_merge(tmp_path: Path) -> None:
    """The ids of tasks, experiments and programs say what they are; of two notes the earlier one counts."""

    def noted(minute: float, author: str) -> list[Record]:
        planned = WORLD.experiment.replaced(id="x@1", at=at(minute), author=author)
        task = WORLD.task.replaced(id="t@1", ingested=at(minute))
        return [task, WORLD.evaluator.replaced(id="p@1", at=at(minute)), planned]

    late, early = noted(9, "me"), noted(2, "you")
    with fresh(tmp_path / "a", [late]) as a, fresh(tmp_path / "b", [early]) as b, fresh(tmp_path / "c", [late]) as c:
        merge(a, b)
        merge(b, c)
        assert everything(a) == everything(b)
        assert a.get(Task, "t@1").ingested == at(2)
        assert a.get(Experiment, "x@1").author == "you"
        rebuild(a)
        assert everything(a) == everything(b)
        assert damage(a) == damage(b) == []
        count = len(a.objects.digests())
        a.commit(*late)
        assert len(a.objects.digests()) == count
        with pytest.raises(RecordConflict):
            a.commit(WORLD.task.replaced(id="t@1", title="Another"))


def test_kill_between_object_and_row_loses_nothing(tmp_path: Path) -> None:
    fresh(tmp_path / "s").close()
    env = {**os.environ, "WORKSAMPLE_FAULT": "store.object:kill:4"}
    done = ended("store.worker", tmp_path / "s", "w", 9, env=env)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.split() == ["w0", "w1", "w2"]
    with Store.open(tmp_path / "s", heal=False) as store:
        assert len(store.find(Trial)) == 3
        assert ["not in the index" in f.what for f in check(store)] == [True]
    with Store.open(tmp_path / "s") as store:
        assert {t.id for t in store.find(Trial)} == {"w0", "w1", "w2", "w3"}
        assert damage(store, deep=True) == []


def test_merge_includes_logs(tmp_path: Path) -> None:
    with fresh(tmp_path / "a") as a, fresh(tmp_path / "b") as b:
        (b.logs / "sub").mkdir()
        (b.logs / "sub" / "x.eval").write_text("log")
        (a.logs / "mine.eval").write_text("mine")
        merge(a, b)
        assert (a.logs / "sub" / "x.eval").read_text() == "log"
        assert (a.logs / "mine.eval").read_text() == "mine"


def test_object_without_rows_is_indexed_on_opening(tmp_path: Path) -> None:
    """As after a kill between object and row."""
    store = fresh(tmp_path / "a")
    committed, data = draft([WORLD.trial(0, "t1")])
    store.objects.write(committed.digest, data)
    assert store.find(Trial) == []
    faults = check(store)
    assert len(faults) == 1
    assert "not in the index" in faults[0].what
    store.close()
    with Store.open(tmp_path / "a") as again:
        assert [t.id for t in again.find(Trial)] == ["t1"]
        assert live(again) == {WORLD.slots[0].id: "t1"}
        assert again.sync() == 0
        assert damage(again) == []


def test_store_without_its_database_is_restored_on_opening(tmp_path: Path) -> None:
    with fresh(tmp_path / "a", [[WORLD.trial(0, "t1")]]) as store:
        before = everything(store)
    for path in (tmp_path / "a").glob("index.sqlite*"):
        path.unlink()
    shutil.rmtree(tmp_path / "a" / "cache", ignore_errors=True)
    with Store.open(tmp_path / "a") as store:
        assert everything(store) == before


def test_torn_files_are_never_taken_for_objects(tmp_path: Path) -> None:
    store = fresh(tmp_path / "a")
    count = len(store.objects.digests())
    (tmp_path / "a" / "tmp").mkdir(exist_ok=True)
    (tmp_path / "a" / "tmp" / "1-abc").write_text('{"half')
    assert len(store.objects.digests()) == count
    store.close()
    committed, data = draft([WORLD.trial(0, "t1")])
    torn = tmp_path / "a" / "records" / committed.digest[:2] / f"{committed.digest}.json"
    torn.parent.mkdir(exist_ok=True)
    torn.write_bytes(data[: len(data) // 2])
    with pytest.raises(BrokenObject, match="does not match its name") as caught:
        Store.open(tmp_path / "a")
    assert caught.value.next == "worksample store check"
    assert caught.value.where == str(torn)
    with Store.open(tmp_path / "a", heal=False) as store:
        assert ["does not match" in f.what for f in check(store)] == [True]
        torn.unlink()
        assert damage(store) == []


@pytest.mark.parametrize("gap", [0, 7])
def test_contradictory_objects_count_the_same_in_any_order(tmp_path: Path, gap: int) -> None:
    """Files copied by hand may contradict each other: the earlier object counts, else the smaller digest."""
    objects = [pack(at(900 + gap * n), [WORLD.trial(n, "t1", steps=n)]) for n in (0, 1)]
    right = 0 if gap else min((0, 1), key=lambda n: objects[n][0].digest)
    seen = []
    for n, order in enumerate((objects, objects[::-1])):
        with fresh(tmp_path / str(n)) as store:
            for committed, data in order:
                store.objects.write(committed.digest, data)
                store.sync()
            assert store.get(Trial, "t1").steps == right
            seen.append(everything(store))
            rebuild(store)
            assert everything(store) == seen[-1]
            wrong = objects[1 - right][0].digest
            assert [(f"object {objects[right][0].digest}" in f.what, wrong in f.where) for f in check(store)] == [
                (True, True)
            ]
    assert seen[0] == seen[1]


def test_objects_at_older_paths_are_read(tmp_path: Path) -> None:
    """In folders by the first two digits of their digests."""
    with fresh(tmp_path / "a", [[WORLD.trial(0, "t1")]]) as store:
        before = everything(store)
        for digest, path in store.objects.all().items():
            old = tmp_path / "a" / "records" / digest[:2] / f"{digest}.json"
            old.parent.mkdir(exist_ok=True)
            (tmp_path / "a" / path).rename(old)
    for path in (tmp_path / "a").glob("index.sqlite*"):
        path.unlink()
    with Store.open(tmp_path / "a") as store:
        assert everything(store) == before
        store.commit(WORLD.trial(1, "t2"))
        assert damage(store) == []
        with fresh(tmp_path / "b") as other:
            merge(other, store)
            assert everything(other) == everything(store)


def test_object_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    store = fresh(tmp_path / "a")
    data = b'{"at":"2026-01-01T00:00:00+00:00","format":2,"records":[]}'
    store.objects.write(digest_bytes(data), data)
    with pytest.raises(BrokenObject, match="format 2"):
        store.sync()
    data = b'{"at":"2026-01-01T00:00:00+00:00","format":1,"records":[{"kind":"ghost","schema":1,"body":{}}]}'
    store.objects.write(digest_bytes(data), data)
    assert sorted(f.next for f in check(store)) == ["pip install --upgrade worksample"] * 2
    assert store.find(Agent)
    store.close()
