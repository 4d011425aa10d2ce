"""Many machines on one store with slow remote objects: nobody waits for another's objects, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store.slow_files import Gate, Meeting, SlowFiles
from store.views import damage, everything, live
from store.worlds import World, at, planted
from worksample.errors import RecordConflict
from worksample.records import AmendmentTarget, Evaluator, SubmissionPart, Trial
from worksample.store import Store, check, rebuild
from worksample.store.durable_disk import Disk

WORLD = World()
TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "cache"))
    usual = SlowFiles.during
    SlowFiles.during = staticmethod(lambda operation, path: None)
    yield f"slow://{tmp_path}/far"
    SlowFiles.during = staticmethod(usual)


def during(what: Callable[[str, str], None]) -> None:
    SlowFiles.during = staticmethod(what)


def together(*works: Callable[[], object]) -> list[object]:
    """What each of these, in a thread of its own, returned or raised."""
    out: list[object] = [None] * len(works)

    def run(n: int) -> None:
        try:
            out[n] = works[n]()
        except Exception as e:  # noqa: BLE001 - a thread's failure must reach the test
            out[n] = e

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return out


def kept_and_refused(outcomes: list[object]) -> tuple[int, int]:
    kept = [o for o in outcomes if isinstance(o, str)]
    refused = [o for o in outcomes if isinstance(o, RecordConflict)]
    assert len(kept) + len(refused) == len(outcomes), outcomes
    return len(kept), len(refused)


def overlap(store: Store) -> None:
    """Eight commits meet while their objects are being put: none waits for another's."""
    trials = [WORLD.trial(n, f"t{n}") for n in range(8)]

    def work(n: int) -> str:
        part = {"output": SubmissionPart(manifest=store.blobs.put(b"%d" % n))}
        return store.commit(trials[n], WORLD.submission(trials[n]).replaced(parts=part))

    during(Meeting(8))
    assert kept_and_refused(together(*(lambda n=n: work(n) for n in range(8)))) == (8, 0)  # type: ignore[misc]
    assert live(store) == {slot.id: f"t{n}" for n, slot in enumerate(WORLD.slots)}


def test_commits_over_a_slow_store_overlap(url: str) -> None:
    with planted(Store.open(url, create=True), WORLD) as store:
        overlap(store)
        during(lambda operation, path: None)
        assert [f.what for f in check(store) if "cannot be read" not in f.what] == []


def heartbeat(store: Store, gate: Gate) -> None:
    """Leases are taken, renewed and given back, and records read, while an object is on its way."""
    assert store.lease("slot", "me", 600) and store.lease("done", "me", 600)
    thread = threading.Thread(target=store.commit, args=(WORLD.trial(0, "t1"),))
    thread.start()
    try:
        assert gate.reached.wait(60)
        done = together(
            lambda: store.renew("slot", "me", 600),
            lambda: store.lease("other", "me", 600),
            lambda: store.release("done", "me"),
            lambda: store.find(Trial),
        )
        assert done == [True, True, None, []]
        assert not gate.opened.is_set()
    finally:
        gate.opened.set()
        thread.join(60)
    assert [t.id for t in store.find(Trial)] == ["t1"]


def test_heartbeat_waits_for_no_object(url: str) -> None:
    with planted(Store.open(url, create=True), WORLD) as store:
        gate = Gate()
        during(gate)
        heartbeat(store, gate)


class _GatedDisk(Disk, Gate):
    """A disk of this machine that is slow to sync a record."""

    def __init__(self) -> None:
        Gate.__init__(self)
        self.armed = False

    def sync(self, fd: int) -> None:
        if self.armed and os.fstat(fd).st_size and b'"records":' in os.pread(fd, 1 << 20, 0):
            self("put", "/records/")
        super().sync(fd)


def test_heartbeat_does_not_wait_for_the_local_disk(tmp_path: Path) -> None:
    disk = _GatedDisk()
    with planted(Store.open(tmp_path / "s", create=True, disk=disk), WORLD) as store:
        disk.armed = True
        heartbeat(store, disk)


def rivals_are_told_apart(store: Store, others: list[Store]) -> None:
    """Each has looked, found the id free, and put its object: one is kept, the others are refused and leave nothing."""
    stores = [store, *others]
    during(Meeting(len(stores)))
    works = [lambda n=n, s=s: s.commit(WORLD.trial(0, "t1", steps=n)) for n, s in enumerate(stores)]  # type: ignore[misc]
    assert kept_and_refused(together(*works)) == (1, len(others))
    during(lambda operation, path: None)
    assert damage(store) == []
    before = everything(store)
    rebuild(store)
    assert everything(store) == before


def test_one_of_rival_records_is_kept_and_others_leave_nothing(url: str) -> None:
    with planted(Store.open(url, create=True), WORLD) as store:
        others = [Store.open(url) for _ in range(3)]
        rivals_are_told_apart(store, others)
        for other in others:
            other.close()


def notes_of_one_thing_agree(store: Store, other: Store) -> None:
    """Two machines note the same evaluator at once: both are told so, and the earlier note counts."""
    notes = [WORLD.evaluator.replaced(id="p@1", at=at(minute)) for minute in (9, 2)]
    during(Meeting(2))
    works = [lambda n=n, s=s: s.commit(n) for n, s in zip(notes, (store, other), strict=True)]  # type: ignore[misc]
    assert kept_and_refused(together(*works)) == (2, 0)
    during(lambda operation, path: None)
    assert store.get(Evaluator, "p@1").at == at(2)
    before = everything(store)
    rebuild(store)
    assert everything(store) == before
    assert damage(store) == []


def test_two_equal_notes_agree(url: str) -> None:
    with planted(Store.open(url, create=True), WORLD) as store, Store.open(url) as other:
        notes_of_one_thing_agree(store, other)


def one_live_trial_per_slot(store: Store, others: list[Store]) -> None:
    """Trials of one slot and strikes of them, all at once: as live as when they come one after another."""
    store.commit(WORLD.trial(0, "a", 1))
    stores = [store, *others]
    records = [
        WORLD.amend(AmendmentTarget.TRIAL, "a", 50),
        *(WORLD.trial(0, f"b{n}", 2 + n) for n in range(len(others))),
    ]
    during(Meeting(len(stores)))
    works = [lambda r=r, s=s: s.commit(r) for r, s in zip(records, stores, strict=True)]  # type: ignore[misc]
    assert kept_and_refused(together(*works)) == (len(stores), 0)
    during(lambda operation, path: None)
    assert live(store) == {WORLD.slots[0].id: "b0"}
    assert damage(store) == []


def test_concurrent_trials_and_strikes_of_one_slot_agree(url: str) -> None:
    with planted(Store.open(url, create=True), WORLD) as store:
        others = [Store.open(url) for _ in range(3)]
        one_live_trial_per_slot(store, others)
        for other in others:
            other.close()


def worker(url: str, cache: Path, name: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Another machine: a process with a cache and an index of its own."""
    env = {**os.environ, "PYTHONPATH": str(TESTS), "WORKSAMPLE_CACHE": str(cache), **environ}
    argv = [
        sys.executable,
        "-c",
        "import store.slow_files, store.worker as w, sys; w.main(*sys.argv[1:3], 4)",
        url,
        name,
    ]
    return subprocess.run(argv, env=env, input="\n", capture_output=True, text=True, check=False, timeout=300)


def test_machine_killed_between_object_and_row_loses_nothing(url: str, tmp_path: Path) -> None:
    planted(Store.open(url, create=True), WORLD).close()
    done = worker(url, tmp_path / "two", "w", WORKSAMPLE_FAULT="store.object:kill:3")
    assert (done.returncode, done.stdout.split()) == (-signal.SIGKILL, ["w0", "w1"])
    with Store.open(url) as store:
        assert store.sync() == 6
        assert {t.id for t in store.find(Trial)} == {"w0", "w1", "w2"}
        assert damage(store, deep=True) == []
    again = worker(url, tmp_path / "two", "v")
    assert (again.returncode, again.stderr) == (0, "")


def test_sync_reads_the_last_hours_only(url: str, tmp_path: Path) -> None:
    with planted(Store.open(url, create=True), WORLD) as store:
        store.commit(WORLD.trial(0, "old"))
        here = next((tmp_path / "far" / "records").iterdir())
        here.rename(here.with_name("2020-01-01T00"))
        asked: list[str] = []
        during(lambda operation, path: asked.append(path) if operation == "list" else None)
        assert store.sync() == 0
        assert not [path for path in asked if "2020" in path]
        assert store.sync(whole=True) == 0
        assert [path for path in asked if "2020" in path]
        assert damage(store) == []
        # Another machine, whose index is new, looks at all of them once.
        during(lambda operation, path: None)
    done = worker(url, tmp_path / "two", "w")
    assert (done.returncode, done.stderr) == (0, "")
    with Store.open(url) as store:
        assert store.sync() == 8
        assert sorted(t.id for t in store.find(Trial)) == ["old", "w0", "w1", "w2", "w3"]
