"""The store check finds each kind of fault, with place and next step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from store.worlds import EMPTY, World, planted
from worksample.records import Manifest, SubmissionPart
from worksample.records.manifest import Entry
from worksample.store import Store, check, put_canonical, rebuild, schema
from worksample.store.blobs import blob_path

WORLD = World()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = planted(Store.open(tmp_path / "store", create=True), WORLD)
    trial = WORLD.trial(0, "t1")
    blob = store.blobs.put(b"deliverable")
    manifest = Manifest(entries=(Entry(path="report.csv", size=11, blob=blob),))
    part = SubmissionPart(manifest=put_canonical(store.blobs, manifest.plain()), files=1, size=11)
    store.commit(trial, WORLD.submission(trial).replaced(parts={"output": part}))
    store.commit(WORLD.evaluation("s-t1", "e1"))
    assert check(store, deep=True) == []
    return store


def blob_file(store: Store, data: bytes) -> Path:
    return store.blobs.path(store.blobs.put(data))


def delete_row(store: Store) -> None:
    with store.database.writing() as c:
        c.execute(delete(schema.evaluations))


def change_row(store: Store) -> None:
    with store.database.writing() as c:
        c.execute(update(schema.trials).values(body="{}"))


def wrong_live(store: Store) -> None:
    with store.database.writing() as c:
        c.execute(update(schema.trials).values(live=False))


def forget_commit(store: Store) -> None:
    with store.database.writing() as c:
        c.execute(delete(schema.commits))


def lose_object(store: Store) -> None:
    paths = store.objects.all()
    path = next(path for digest, path in paths.items() if store.objects.read(digest, path).records[0].id == "e1")
    (Path(store.name) / path).unlink()


def lose_blob(store: Store) -> None:
    blob_file(store, b"deliverable").unlink()


def lose_manifest(store: Store) -> None:
    (Path(store.name) / blob_path(EMPTY)).unlink()


def cut_blob(store: Store) -> None:
    path = blob_file(store, b"deliverable")
    path.chmod(0o644)
    path.write_bytes(b"deliver")


def flip_blob(store: Store) -> None:
    path = blob_file(store, b"deliverable")
    path.chmod(0o644)
    path.write_bytes(b"Deliverable")


def stray(store: Store) -> None:
    (Path(store.name) / "records" / "notes.txt").write_text("x")


def dangling(store: Store) -> None:
    store.commit(WORLD.evaluation("nobody", "e2"))


CASES: list[tuple[Callable[[Store], None], str, str, bool]] = [
    (delete_row, "evaluation e1 has no row in the index", "worksample store rebuild", False),
    (change_row, "the index row of trial t1 differs from the stored object", "worksample store rebuild", False),
    (
        wrong_live,
        "the index marks the wrong trial of a slot as the one that counts: t1",
        "worksample store rebuild",
        False,
    ),
    (forget_commit, "an object is not in the index", "worksample store rebuild", False),
    (lose_object, "the index has a row for evaluation e1, but the store has no object for it", "merge", False),
    (lose_blob, "a blob of submission s-t1, report.csv is missing", "merge", False),
    (lose_manifest, "is missing", "merge", False),
    (cut_blob, "does not have the size of report.csv", "merge", False),
    (flip_blob, "the blob is damaged: its content does not match its name", "merge", True),
    (stray, "this file does not belong to the store: its name is not that of an object", "remove it", False),
    (dangling, "evaluation e2 refers to the submission nobody, but the store lacks it", "merge", False),
]


@pytest.mark.parametrize(("harm", "what", "next", "deep"), CASES, ids=[c[0].__name__ for c in CASES])
def test_every_damage_is_found(store: Store, harm: Callable[[Store], None], what: str, next: str, deep: bool) -> None:
    harm(store)
    if deep:
        assert check(store) == []
    faults = check(store, deep=deep)
    assert [f for f in faults if what in f.what and next in f.next], faults
    assert all(f.what and f.where and f.next for f in faults)
    assert str(faults[0]).endswith(f"next: {faults[0].next}")
    if "rebuild" in next:
        rebuild(store)
        assert check(store, deep=True) == []
