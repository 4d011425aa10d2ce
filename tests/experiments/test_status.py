"""Statuses of many experiments are read together, in work that grows with their number."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import event

from store.worlds import World, at, planted
from worksample.errors import Cause
from worksample.experiments import status
from worksample.experiments.status import status_of, statuses_of
from worksample.records import Experiment, Origin
from worksample.store import Store

STEPS = 100


def store_with(folder: Path, experiments: int) -> Store:
    """Build a store whose experiments have eight slots, each with a failed try and a submission, and a graded one."""
    world = World()
    store = planted(Store.open(folder, create=True), world)
    base = store.find(Experiment)[0]
    for k in range(experiments):
        mine = base.replaced(id=f"e{k}", name=f"n{k}") if k else base
        trials = [world.trial(n, f"t{k}-{n}", n + 2) for n in range(k % len(world.slots))]
        trials.append(world.trial(0, f"f{k}", 1, Cause.SANDBOX_LOST))
        if k:
            store.commit(mine, *(s.replaced(id=f"{s.id}-{k}", experiment=mine.id) for s in world.slots))
            trials = [t.replaced(experiment=mine.id, slot=f"{t.slot}-{k}") for t in trials]
        work = [world.submission(t).replaced(experiment=mine.id) for t in trials[:-1]]
        handed = [
            one.replaced(id=f"h{k}", trial=None, origin=Origin.EXTERNAL, entrant="somebody", at=at(90))
            for one in work[:1]
        ]
        store.commit(*trials, *work, *handed)
    return store


@contextmanager
def counted(store: Store) -> Iterator[list[int]]:
    """Count what SQLite does, in steps of its machine: the same on every computer."""
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    def on_connect(raw: sqlite3.Connection, _: object) -> None:
        raw.set_progress_handler(count, STEPS)

    store.database.close()
    event.listen(store.database.engine, "connect", on_connect)
    try:
        yield steps
    finally:
        event.remove(store.database.engine, "connect", on_connect)
        store.database.close()


def test_statuses_equal_those_of_each_experiment(tmp_path: Path) -> None:
    with store_with(tmp_path / "s", 10) as store:
        known = store.find(Experiment)
        alone = [status_of(store, one) for one in known]
        assert statuses_of(store, known) == alone
        assert statuses_of(store, known[::-1]) == alone[::-1]
        assert {one.handed_in for one in alone} == {0, 1} and len({one.finished for one in alone}) > 4
        assert statuses_of(store, []) == []


def test_statuses_are_read_in_batches_of_slots(tmp_path: Path) -> None:
    assert status.AT_ONCE >= 1000
    with store_with(tmp_path / "s", 5) as store:
        known = store.find(Experiment)
        assert [len(batch) for batch in status.batches(known, {e.id: 8 for e in known}, 16)] == [2, 2, 1]
        assert [len(batch) for batch in status.batches(known, {known[2].id: 99}, 16)] == [2, 1, 2]


def test_work_for_statuses_grows_with_the_number_of_experiments(tmp_path: Path) -> None:
    """It grew with its square: all submissions of the store were read for each experiment."""
    steps = []
    for number in (10, 40):
        with store_with(tmp_path / str(number), number) as store:
            known = store.find(Experiment)
            with counted(store) as found:
                statuses_of(store, known)
            together = found[0]
            with counted(store) as found:
                status_of(store, known[0])
            steps.append((together, found[0]))
    (few, one_of_few), (many, one_of_many) = steps
    assert many < 6 * few
    assert one_of_many < 2 * one_of_few
