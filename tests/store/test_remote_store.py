"""A store behind an fsspec URL."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from store.views import damage, everything
from store.worlds import World, planted
from worksample.errors import RecordMissing, StoreError
from worksample.files import scan
from worksample.records import Trial
from worksample.store import Store, merge

WORLD = World()


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """fsspec's file system in memory, named anew for each test; the cache on this machine lies in a fresh folder."""
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "one"))
    return f"memory://{uuid4().hex}/store"


def test_another_machine_sees_the_same(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="no store here"):
        Store.open(url)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "big").write_bytes(b"big" * 200_000)
    with planted(Store.open(url, create=True), WORLD) as store:
        store.commit(WORLD.trial(0, "t1"))
        digest = scan(tmp_path / "f", store.blobs).manifest_digest
        store.blobs.flush()
        before = everything(store)
        assert damage(store, deep=True) == []
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "two"))
    with Store.open(url) as other:
        assert everything(other) == before
        assert (other.folder(digest) / "big").stat().st_size == 600_000
        with pytest.raises(RecordMissing):
            other.blobs.read("0" * 64)
        other.commit(WORLD.trial(1, "t2"))
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "one"))
    with Store.open(url) as store:
        assert len(store.find(Trial)) == 1
        assert store.sync() == 1
        assert len(store.find(Trial)) == 2


def test_remotely_damaged_blob_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(url, create=True) as store:
        digest = store.blobs.put(b"right")
        store.blobs.flush()
    files = fsspec.filesystem("memory")
    path = f"/{url.removeprefix('memory://')}/blobs/{digest[:2]}/{digest}"
    assert files.cat_file(path) == b"right"
    files.pipe_file(path, b"wrong")
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "two"))
    with Store.open(url) as store, pytest.raises(StoreError, match="damaged"):
        store.blobs.read(digest)


def test_remote_and_local_stores_merge(url: str, tmp_path: Path) -> None:
    with planted(Store.open(url, create=True), WORLD) as far, Store.open(tmp_path / "s", create=True) as near:
        far.commit(WORLD.trial(0, "t1"))
        merge(near, far)
        assert everything(near) == everything(far)
        near.commit(WORLD.trial(1, "t2"))
        merge(far, near)
        assert everything(near) == everything(far)
        assert damage(far, deep=True) == damage(near, deep=True) == []


def test_url_without_a_driver_is_refused() -> None:
    with pytest.raises(StoreError, match=r"not the URL of a store|the driver for"):
        Store.open("ghost://bucket/x")
