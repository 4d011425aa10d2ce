"""Stores as earlier versions of the package left them: their objects, and a dump of their database.

Each file of `older/` was made by the code of that version, which planned a world, ran three trials of which one was
struck, graded two, opened an audit of the round, took a lease and (from 0005 on) made an account for Ann.
"""

from __future__ import annotations

import json
from pathlib import Path

from store.views import everything, live
from store.worlds import NOTHING, World
from worksample.people import People
from worksample.records import Evaluation, Round
from worksample.store import Store, check, rebuild, schema

OLDER = Path(__file__).parent / "older"
VERSIONS = ("0001", "0005", "0007")
WORLD = World()


def unpack(version: str, database: str, folder: Path) -> list[str]:
    """Write the store's files into a folder; the lines of SQL that make its database."""
    kept = json.loads((OLDER / f"{version}-{database}.json").read_text())
    for path, text in kept["files"].items():
        where = folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)
    lines: list[str] = kept["sql"]
    return lines


def is_whole(folder: Path, version: str) -> None:
    """Opened by this version it says what it said, and its index is the one that its objects make."""
    with Store.open(folder) as store:
        store.blobs.put(NOTHING)
        assert live(store) == {WORLD.slots[0].id: "t1", WORLD.slots[1].id: "t3"}
        assert sorted((e.id, e.payload is None) for e in store.find(Evaluation)) == [("e1", False), ("e2", True)]
        [look] = store.find(Round, over="r1", purpose="audit")
        assert look.id == "look" and len(store.find(Round)) == 2
        names = [account.name for account in People(store).accounts.all()]
        assert names == ([] if version == "0001" else ["Ann"])
        assert [str(fault) for fault in check(store, deep=True)] == []
        # It works on, with all columns of today.
        trial = WORLD.trial(2, "t4", 4)
        store.commit(trial, WORLD.submission(trial))
        before = everything(store)
        rebuild(store)
        assert everything(store) == before
        assert [account.name for account in People(store).accounts.all()] == names
    with Store.open(folder) as store:
        assert everything(store) == before
    assert version < schema.HEAD
