"""After a power cut everything reported as committed is complete, whichever process or thread synced it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.worlds import World, planted
from worksample.errors import StoreError
from worksample.records import SubmissionPart, Trial
from worksample.store import Store, check
from worksample.store.durable_disk import Disk
from worksample.store.power_cut import PowerCut

WORLD = World()


def opened(base: Path, disk: Disk) -> Store:
    return Store.open(base / "deep" / "er" / "s", create=True, disk=disk)


def after_the_cut(disk: PowerCut, target: Path) -> Store:
    disk.survivors(target)
    return Store.open(target / "deep" / "er" / "s")


def commit(store: Store, n: int, blobs: list[bytes]) -> Trial:
    trial = WORLD.trial(n % 8, f"t{n}", n)
    parts = {f"p{i}": SubmissionPart(manifest=store.blobs.put(data)) for i, data in enumerate(blobs)}
    store.commit(trial, WORLD.submission(trial).replaced(parts=parts))
    return trial


def assert_whole(store: Store, trials: set[str], blobs: set[bytes]) -> None:
    assert {t.id for t in store.find(Trial)} >= trials
    kept = {digest: store.blobs.read(digest) for digest in store.blobs.all()}
    assert set(kept.values()) >= blobs
    assert [f for f in check(store, deep=True) if "manifest" not in f.what] == []


@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(st.lists(st.integers(1, 400_000), max_size=20), min_size=1, max_size=4))
def test_committed_data_survive(tmp_path_factory: pytest.TempPathFactory, sizes: list[list[int]]) -> None:
    """Small blobs and large ones, few and so many that one sync serves them all."""
    folder = tmp_path_factory.mktemp("cut")
    (folder / "base").mkdir()
    disk = PowerCut(folder / "base")
    told, blobs = set[str](), set[bytes]()
    with planted(opened(folder / "base", disk), WORLD) as store:
        for n, each in enumerate(sizes):
            made = [(b"%d-%d-" % (n, i) * size)[:size] for i, size in enumerate(each)]
            told.add(commit(store, n, made).id)
            blobs |= set(made)
            with after_the_cut(disk, folder / f"cut{n}") as found:
                assert_whole(found, told, blobs)


def test_uncommitted_data_are_lost_so_the_simulation_can_tell(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    disk = PowerCut(tmp_path / "base")
    with planted(opened(tmp_path / "base", disk), WORLD) as store:
        digest = store.blobs.put(b"never flushed")
        with after_the_cut(disk, tmp_path / "cut") as found:
            assert not found.blobs.has(digest)


def test_unsynced_bytes_of_another_process_are_made_durable(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    disk = PowerCut(tmp_path / "base")
    planted(opened(tmp_path / "base", disk), WORLD).close()
    with opened(tmp_path / "base", Disk()) as other, opened(tmp_path / "base", disk) as store:
        for data in (b"small", b"large" * 100_000):
            other.blobs.put(data)
        (tmp_path / "large").write_bytes(b"large" * 100_000)
        part = SubmissionPart(manifest=store.blobs.put_path(tmp_path / "large"))
        trial = WORLD.trial(0, "t1")
        submission = WORLD.submission(trial).replaced(
            parts={"a": SubmissionPart(manifest=store.blobs.put(b"small")), "b": part}
        )
        store.commit(trial, submission)
        with after_the_cut(disk, tmp_path / "cut") as found:
            assert_whole(found, {"t1"}, {b"small", b"large" * 100_000})


class Held(PowerCut):
    """The first sync of a blob waits until it is let through, and may fail then."""

    def __init__(self, base: Path, *, fails: bool = False) -> None:
        super().__init__(base)
        self.reached, self.opened, self.fails = threading.Event(), threading.Event(), fails
        self.armed = False

    def sync(self, fd: int) -> None:
        if self.armed and "/blobs/" in str(Path(f"/proc/self/fd/{fd}").readlink()) and not self.reached.is_set():
            self.reached.set()
            assert self.opened.wait(60)
            if self.fails:
                raise OSError(5, "input/output error")
        super().sync(fd)


@pytest.mark.parametrize("fails", [False, True])
def test_second_thread_waits_for_blobs_being_synced(tmp_path: Path, fails: bool) -> None:
    """It returns only once they are durable, and sees to them itself where the first one failed."""
    (tmp_path / "base").mkdir()
    disk = Held(tmp_path / "base", fails=fails)
    with planted(opened(tmp_path / "base", disk), WORLD) as store:
        disk.armed = True
        store.blobs.put(b"shared")
        ended: dict[str, str] = {}
        second_is_done = threading.Event()

        def first() -> None:
            try:
                commit(store, 1, [b"shared"])
                ended["first"] = "kept"
            except StoreError:
                ended["first"] = "failed"

        def second() -> None:
            commit(store, 2, [b"shared"])
            ended["second"] = "kept"
            second_is_done.set()

        threads = [threading.Thread(target=first)]
        threads[0].start()
        assert disk.reached.wait(60)
        threads.append(threading.Thread(target=second))
        threads[1].start()
        # There is nothing to wait for where it rightly waits itself: this is how long a wrong one has to show it.
        assert not second_is_done.wait(0.5)
        disk.opened.set()
        for thread in threads:
            thread.join(60)
        assert ended == {"first": "failed" if fails else "kept", "second": "kept"}
        with after_the_cut(disk, tmp_path / "cut") as found:
            assert_whole(found, {"t2"} if fails else {"t1", "t2"}, {b"shared"})
