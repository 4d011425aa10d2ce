"""Blobs and folders."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample.errors import RecordMissing
from worksample.files import HashSink, scan
from worksample.records import digest_bytes
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "s", create=True)


@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=2000))
def test_stored_blob_is_read_back(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    store = Store.open(tmp_path_factory.mktemp("blobs") / "s", create=True)
    digest = store.blobs.put(data)
    assert digest == digest_bytes(data)
    assert store.blobs.read(digest) == data
    assert store.blobs.read(digest, 5) == data[:5]
    assert store.blobs.has(digest)
    store.close()


def test_blobs_are_stored_once_and_read_only(store: Store, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 500_000)
    digest = store.blobs.put_path(tmp_path / "f")
    inode = store.blobs.path(digest).stat().st_ino
    assert store.blobs.put(b"x" * 500_000) == digest
    assert store.blobs.put_path(tmp_path / "f") == digest
    assert store.blobs.path(digest).stat().st_ino == inode
    assert stat.S_IMODE(store.blobs.path(digest).stat().st_mode) == 0o444
    assert list(store.blobs.all()) == [digest]
    assert list((Path(store.name) / "tmp").iterdir()) == []


def test_torn_blob_is_replaced(store: Store) -> None:
    digest = store.blobs.put(b"whole")
    path = store.blobs.path(digest)
    path.chmod(0o644)
    path.write_bytes(b"")
    store.blobs.put(b"whole")
    assert store.blobs.read(digest) == b"whole"


def test_sparse_files_stay_sparse(store: Store, tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as f:
        f.seek(64 << 20)
        f.write(b"end")
    path = store.blobs.path(store.blobs.put_path(tmp_path / "sparse"))
    assert path.stat().st_size == (64 << 20) + 3
    assert path.stat().st_blocks * 512 < 4 << 20


def test_missing_blob_is_reported(store: Store) -> None:
    for ask in (store.blobs.path, store.blobs.open, store.blobs.read, store.manifest, store.folder):
        with pytest.raises(RecordMissing) as caught:
            ask("0" * 64)
        assert caught.value.next
    assert not store.blobs.has("0" * 64)


def test_manifest_becomes_a_folder(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "given"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "data").write_bytes(b"data")
    (folder / "tool").write_bytes(b"#!")
    (folder / "tool").chmod(0o755)
    (folder / "link").symlink_to("sub/data")
    (folder / "escape").symlink_to("/etc/passwd")
    taken = scan(folder, store.blobs)
    laid = store.folder(taken.manifest_digest)
    assert store.folder(taken.manifest_digest) == laid
    assert sorted(p.name for p in laid.rglob("*")) == ["data", "link", "sub", "tool"]
    assert (laid / "link").read_bytes() == b"data"
    assert (laid / "sub" / "data").samefile(store.blobs.path(digest_bytes(b"data")))
    assert os.access(laid / "tool", os.X_OK)
    entries = tuple(e for e in taken.manifest.entries if e.path != "escape")
    assert scan(laid, HashSink()).manifest.entries == entries


def test_many_threads_request_one_folder(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    for n in range(200):
        (folder / f"{n}").write_bytes(b"x" * n)
    digest = scan(folder, store.blobs).manifest_digest
    wrong: list[object] = []

    def ask() -> None:
        laid = store.folder(digest)
        count = len(list(laid.iterdir()))
        if count != 200:
            wrong.append(count)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert [p.name for p in (Path(store.name) / "cache" / "folders").iterdir()] == [digest[:2]]


def test_leftovers_of_killed_processes_are_removed_after_a_day(store: Store) -> None:
    tmp = Path(store.name) / "tmp"
    (tmp / "folder-old" / "below").mkdir(parents=True)
    for name in ("old", "new"):
        (tmp / name).write_bytes(b"half")
    for name in ("old", "folder-old"):
        os.utime(tmp / name, (0, 0))
    store.sync()
    assert [p.name for p in tmp.iterdir()] == ["new"]
