"""Opening stores: location, missing stores, and versions of the database."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from store.older_stores import VERSIONS, is_whole, unpack
from store.views import damage, everything, live
from store.worlds import World, planted
from worksample.errors import StoreError
from worksample.records import AmendmentTarget, Round, canonical
from worksample.store import Store, check, people_tables, schema

WORLD = World()


def test_location_comes_from_call_environment_or_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKSAMPLE_STORE", raising=False)
    with Store.open(create=True) as store:
        assert store.name == str(tmp_path / ".worksample")
    monkeypatch.setenv("WORKSAMPLE_STORE", str(tmp_path / "named"))
    with Store.open(create=True) as store:
        assert store.name == str(tmp_path / "named")
    with Store.open(tmp_path / ".worksample") as store, Store.open(f"file://{tmp_path}/.worksample") as same:
        assert store.id == same.id


def test_missing_store_is_reported(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.doc").write_text("x")
    (tmp_path / "file").write_text("x")
    for name, what in (("none", "no store here"), ("other", "this is not a store"), ("file", "this is not a store")):
        with pytest.raises(StoreError, match=what) as caught:
            Store.open(tmp_path / name)
        assert caught.value.where == str(tmp_path / name)
        assert caught.value.next
    assert not (tmp_path / "none").exists()
    with pytest.raises(StoreError, match="holds other files") as caught:
        Store.open(tmp_path / "other", create=True)
    assert [p.name for p in (tmp_path / "other").iterdir()] == ["thesis.doc"]


def test_newer_store_and_broken_settings_are_refused(tmp_path: Path) -> None:
    Store.open(tmp_path / "s", create=True).close()
    settings = tmp_path / "s" / "store.toml"
    good = settings.read_text()
    for content, what in ((good.replace("format = 1", "format = 2"), "format 2"), ("format = ", "cannot be read")):
        settings.write_text(content)
        with pytest.raises(StoreError, match=what):
            Store.open(tmp_path / "s")


def test_opening_a_store_imports_no_frames(tmp_path: Path) -> None:
    code = (
        "import sys; from worksample.store import Store\n"
        "Store.open(sys.argv[1], create=True).close(); Store.open(sys.argv[1]).close()\n"
        "print('polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "s"], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_importing_the_package_imports_no_database() -> None:
    code = (
        "import sys, worksample.store, worksample.files, worksample.sandboxes.capture; "
        "print('sqlalchemy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def outline(connection: Connection) -> dict[str, str]:
    """Every table and index of a SQLite database as text."""
    made = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return {name: " ".join(re.sub(r"[\"\t\n]", " ", sql).split()) for name, sql in made}


@contextmanager
def bare(folder: Path) -> Iterator[Connection]:
    engine = create_engine(f"sqlite:///{folder}/index.sqlite")
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def take_away(connection: Connection, tables: Iterable[str]) -> None:
    for name in tables:
        connection.execute(text(f'DROP TABLE "{name}"'))


_INDEX = {table.name for table in schema.TABLES.values()}
OLDER = {
    "0001": [t for t in people_tables.EVERYTHING.tables if t not in {*_INDEX, "meta", "commits", "leases"}],
    "0002": ["capabilities"],
    "0003": [],
    "0004": [],
    "0005": [],
}
"""Versions that there were, and the tables that they had not."""


@pytest.mark.parametrize("version", OLDER)
def test_older_database_is_upgraded_and_keeps_its_rows(tmp_path: Path, version: str) -> None:
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        store.commit(WORLD.trial(0, "t1"))
        before = everything(store)
    with bare(tmp_path / "s") as connection:
        fresh = outline(connection)
        take_away(connection, OLDER[version])
        connection.execute(text("DROP INDEX IF EXISTS items_that_are_free"))
        if version < "0005":
            connection.execute(text("INSERT INTO meta VALUES ('writer', '')"))
        connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})
        connection.execute(
            text("INSERT INTO leases (key, owner, generation, expires) VALUES ('mine', 'me', 1, 9999999999999999)")
        )
    with Store.open(tmp_path / "s") as store:
        assert everything(store) == before
        assert live(store) == {WORLD.slots[0].id: "t1"}
        assert store.holder("mine") == "me"
        assert damage(store) == []
    with bare(tmp_path / "s") as connection:
        assert outline(connection) == fresh
        assert connection.execute(text("SELECT key FROM meta ORDER BY key")).scalars().all() == ["store", "synced"]


def age(connection: Connection) -> None:
    """The trials' table as it might have been once: another column, one that is missing, one that may be null."""
    connection.execute(text("DROP INDEX one_live_trial"))
    connection.execute(text("ALTER TABLE trials ADD COLUMN bygone TEXT"))
    connection.execute(text("ALTER TABLE trials DROP COLUMN phases"))
    connection.execute(text("ALTER TABLE rounds DROP COLUMN rule"))
    connection.execute(text("ALTER TABLE rounds ADD COLUMN rule TEXT"))
    connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))


def test_index_tables_are_rebuilt_from_their_own_rows(tmp_path: Path) -> None:
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        store.commit(*(WORLD.trial(n % 8, f"t{n}", n) for n in range(1200)))
        store.commit(WORLD.amend(AmendmentTarget.TRIAL, "t3", 5000))
        before, lives = everything(store), live(store)
        objects = store.objects.all()
    with bare(tmp_path / "s") as connection:
        fresh = outline(connection)
        age(connection)
    moved = tmp_path / "records"
    (tmp_path / "s" / "records").rename(moved)
    with Store.open(tmp_path / "s") as store:
        assert (everything(store), live(store)) == (before, lives)
    moved.rename(tmp_path / "s" / "records")
    with Store.open(tmp_path / "s") as store:
        assert store.objects.all() == objects
        assert damage(store) == []
    with bare(tmp_path / "s") as connection:
        assert outline(connection) == fresh


def test_rounds_of_an_older_store_get_their_purpose(tmp_path: Path) -> None:
    """Their bodies had it among the versions, and their table had no column of it."""
    look = WORLD.round.replaced(id="look", experiment=None, purpose="audit", over="r1")
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        store.commit(look)
        before = everything(store)
    body = {n: v for n, v in look.plain().items() if n not in ("purpose", "over")}
    body["versions"] = {"people.kind": "audit", "people.over": "r1"}
    with bare(tmp_path / "s") as connection:
        told = {"body": canonical(body).decode(), "id": "look"}
        connection.execute(text("UPDATE rounds SET body = :body, schema_version = 1 WHERE id = :id"), told)
        connection.execute(text("DROP INDEX ix_rounds_over"))
        for column in ("purpose", "over"):
            connection.execute(text(f'ALTER TABLE rounds DROP COLUMN "{column}"'))
        connection.execute(text("UPDATE alembic_version SET version_num = '0005'"))
    with Store.open(tmp_path / "s") as store:
        assert everything(store) == before
        assert [r.id for r in store.find(Round, over="r1", purpose="audit")] == ["look"]


@pytest.mark.parametrize("version", VERSIONS)
def test_store_of_an_older_version_is_opened(tmp_path: Path, version: str) -> None:
    with Store.open(tmp_path / "fresh", create=True):
        pass
    lines = unpack(version, "sqlite", tmp_path / "s")
    with sqlite3.connect(tmp_path / "s" / "index.sqlite") as connection:
        connection.executescript("\n".join(lines))
    connection.close()
    is_whole(tmp_path / "s", version)
    with bare(tmp_path / "fresh") as fresh, bare(tmp_path / "s") as renewed:
        assert outline(renewed) == outline(fresh)


def test_newer_database_is_left_alone(tmp_path: Path) -> None:
    Store.open(tmp_path / "s", create=True).close()
    engine = create_engine(f"sqlite:///{tmp_path}/s/index.sqlite")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="newer version") as caught:
        Store.open(tmp_path / "s")
    assert caught.value.next == "pip install --upgrade worksample"


def test_damaged_database_names_its_repair(tmp_path: Path) -> None:
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        before = everything(store)
    index = tmp_path / "s" / "index.sqlite"
    index.write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="damaged") as caught:
        Store.open(tmp_path / "s")
    assert caught.value.next.startswith(f"rm {index}*")
    for path in index.parent.glob("index.sqlite*"):
        path.unlink()
    with Store.open(tmp_path / "s") as store:
        assert everything(store) == before


def test_remote_database_serves_one_store_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", f"sqlite:///{tmp_path}/elsewhere.sqlite")
    Store.open(tmp_path / "a", create=True).close()
    assert not (tmp_path / "a" / "index.sqlite").exists()
    with pytest.raises(StoreError, match="is the index of another store"):
        Store.open(tmp_path / "b", create=True)


@pytest.mark.parametrize("url", ["nonsense", "ghost://x/y"])
def test_invalid_database_url_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    with pytest.raises(StoreError, match="not a database URL"):
        Store.open(tmp_path / "a", create=True)


def tables(place: Path) -> set[str]:
    """What made the tables and indexes of a database, but for the one of its version."""
    with create_engine(f"sqlite:///{place}").connect() as connection:
        said = connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")).scalars()
        return {sql for sql in said if "alembic_version" not in sql}


@pytest.mark.parametrize("half", [False, True], ids=["fresh", "half made"])
def test_new_index_has_the_tables_of_the_schema(tmp_path: Path, half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    by_hand = create_engine(f"sqlite:///{tmp_path}/by-hand.sqlite")
    people_tables.EVERYTHING.create_all(by_hand)
    url = f"sqlite:///{tmp_path}/own.sqlite"
    if half:
        schema.meta.create(create_engine(url))
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    with Store.open(tmp_path / "s", create=True) as store:
        assert not check(store)
    assert len(tables(tmp_path / "own.sqlite")) > 30
    assert tables(tmp_path / "own.sqlite") == tables(tmp_path / "by-hand.sqlite")
