"""A full disk is reported plainly and harms nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.views import damage, everything
from store.worlds import World, planted
from worksample.errors import Cause, StoreFull
from worksample.records import Trial
from worksample.store import Store

WORLD = World()
TESTS = Path(__file__).resolve().parents[1]

LIMITED = """
import resource, sys
from store.worlds import World
from worksample.errors import StoreFull
from worksample.store import Store
store = Store.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
for action in (lambda: store.blobs.put(bytes(range(256)) * 100), lambda: store.commit(World().trial(0, "t" * 9000))):
    try:
        action()
    except StoreFull as e:
        print(e.cause.value, e.where, bool(e.next))
store.close()
"""


def test_file_that_may_not_grow_is_reported(tmp_path: Path) -> None:
    """By the limit on the size of files, which every user can set."""
    planted(Store.open(tmp_path / "s", create=True), WORLD).close()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "s"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        check=False,
    )
    assert done.stderr == ""
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["store.full", "store.full"]
    assert all(str(tmp_path / "s") in line[1] and line[2] == "True" for line in lines)
    with Store.open(tmp_path / "s") as store:
        assert store.find(Trial) == []
        assert damage(store, deep=True) == []


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.box
def test_filled_disk_is_reported(small: Path) -> None:
    """Mounts a file system, so it needs root."""
    store = planted(Store.open(small / "s", create=True), WORLD)
    committed = []
    with pytest.raises(StoreFull) as caught:
        for n in range(10_000):
            trial = WORLD.trial(n % 8, f"t{n}", n)
            store.commit(trial, WORLD.submission(trial))
            committed.append(trial.id)
    assert caught.value.cause is Cause.STORE_FULL
    assert caught.value.next
    assert str(small / "s") in caught.value.where
    with pytest.raises(StoreFull):
        store.blobs.put(os.urandom(5 << 20))
    found = {t.id for t in store.find(Trial)}
    assert found >= set(committed)
    store.close()
    subprocess.run(["mount", "-o", "remount,size=16m", small], check=True)
    with Store.open(small / "s") as store:
        assert damage(store, deep=True) == []
        store.commit(WORLD.trial(0, "afterwards"))
        before = everything(store)
        store.reindex()
        assert everything(store) == before
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
