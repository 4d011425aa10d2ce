"""Opening stores: where they are, what is none, and their database's versions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

import worksample.store
from store.views import everything
from store.worlds import World, planted
from worksample.errors import StoreError
from worksample.records import Round, canonical, digest_bytes
from worksample.store import Store, rebuild, schema

WORLD = World()
MIGRATIONS = Path(worksample.store.__file__).parent / "migrations"


def test_the_place_comes_from_the_call_the_environment_or_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKSAMPLE_STORE", raising=False)
    with Store.open(create=True) as store:
        assert store.name == str(tmp_path / ".worksample")
    monkeypatch.setenv("WORKSAMPLE_STORE", str(tmp_path / "named"))
    with Store.open(create=True) as store:
        assert store.name == str(tmp_path / "named")
    with Store.open(tmp_path / ".worksample") as store, Store.open(f"file://{tmp_path}/.worksample") as same:
        assert store.id == same.id


def test_no_store_and_no_store_at_all(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.doc").write_text("x")
    (tmp_path / "file").write_text("x")
    for name, what in (("none", "no store here"), ("other", "this is no store"), ("file", "this is no store")):
        with pytest.raises(StoreError, match=what) as caught:
            Store.open(tmp_path / name)
        assert caught.value.where == str(tmp_path / name)
        assert caught.value.next
    assert not (tmp_path / "none").exists()
    with pytest.raises(StoreError, match="holds other things") as caught:
        Store.open(tmp_path / "other", create=True)
    assert [p.name for p in (tmp_path / "other").iterdir()] == ["thesis.doc"]


def test_a_newer_store_and_a_broken_settings_file(tmp_path: Path) -> None:
    Store.open(tmp_path / "s", create=True).close()
    settings = tmp_path / "s" / "store.toml"
    good = settings.read_text()
    for content, what in ((good.replace("format = 1", "format = 2"), "format 2"), ("format = ", "cannot be read")):
        settings.write_text(content)
        with pytest.raises(StoreError, match=what):
            Store.open(tmp_path / "s")


def test_opening_a_made_store_needs_no_alembic(tmp_path: Path) -> None:
    code = (
        "import sys; from worksample.store import Store\n"
        "Store.open(sys.argv[1], create=True).close(); Store.open(sys.argv[1]).close()\n"
        "print('alembic' in sys.modules, 'polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "s"], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_importing_the_package_imports_no_database() -> None:
    code = "import sys, worksample.store, worksample.files, worksample.evidence; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def config(connection: object) -> Config:
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    made.attributes["connection"] = connection
    return made


def indexes_of(connection: Connection) -> set[str]:
    made = connection.execute(text("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
    return {sql.replace('"', "") for sql in made.scalars()}


def test_the_migrations_make_the_tables_that_a_fresh_store_has(tmp_path: Path) -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [schema.HEAD]
    engine = create_engine(f"sqlite:///{tmp_path}/m.sqlite")
    with engine.begin() as connection:
        command.upgrade(config(connection), "head")
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
        indexes = indexes_of(connection)
        command.downgrade(config(connection), "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    Store.open(tmp_path / "s", create=True).close()
    other = create_engine(f"sqlite:///{tmp_path}/s/index.sqlite")
    with other.connect() as connection:
        assert indexes_of(connection) == indexes
    other.dispose()
    engine.dispose()


def test_an_older_database_is_brought_forward_and_filled(tmp_path: Path) -> None:
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        store.commit(WORLD.trial(0, "t1"))
        before = everything(store)
    engine = create_engine(f"sqlite:///{tmp_path}/s/index.sqlite")
    with engine.begin() as connection:
        command.downgrade(config(connection), "base")
    engine.dispose()
    with Store.open(tmp_path / "s") as store:
        assert everything(store) == before


def test_rounds_of_yesterdays_store_say_what_they_are_for(tmp_path: Path) -> None:
    """Their bodies, and the objects that they came in, had it among the versions."""
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        look = WORLD.round.replaced(id="look", experiment=None, purpose="audit", over="r1")
        digest = store.commit(look)
        before = everything(store)
    body = {n: v for n, v in look.plain().items() if n not in ("purpose", "over")}
    body["versions"] = {"people.kind": "audit", "people.over": "r1"}
    engine = create_engine(f"sqlite:///{tmp_path}/s/index.sqlite")
    with engine.begin() as connection:
        command.downgrade(config(connection), "0004")
        told = {"body": canonical(body).decode(), "id": "look"}
        connection.execute(text("UPDATE rounds SET body = :body, schema_version = 1 WHERE id = :id"), told)
    engine.dispose()
    with Store.open(tmp_path / "s") as store:
        assert everything(store) == before
        assert [r.id for r in store.find(Round, over="r1", purpose="audit")] == ["look"]
    path = tmp_path / "s" / "records" / digest[:2] / f"{digest}.json"
    plain = json.loads(path.read_text())
    plain["records"] = [{"kind": "round", "schema": 1, "body": body}]
    old = canonical(plain)
    path.unlink()
    place = path.parents[1] / digest_bytes(old)[:2] / f"{digest_bytes(old)}.json"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(old)
    with Store.open(tmp_path / "s") as store:
        rebuild(store)
        assert everything(store) == before


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    Store.open(tmp_path / "s", create=True).close()
    engine = create_engine(f"sqlite:///{tmp_path}/s/index.sqlite")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="newer version") as caught:
        Store.open(tmp_path / "s")
    assert caught.value.next == "pip install --upgrade worksample"


def test_a_damaged_database_names_its_cure(tmp_path: Path) -> None:
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


def test_a_database_elsewhere_serves_one_store_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", f"sqlite:///{tmp_path}/elsewhere.sqlite")
    Store.open(tmp_path / "a", create=True).close()
    assert not (tmp_path / "a" / "index.sqlite").exists()
    with pytest.raises(StoreError, match="indexes another store"):
        Store.open(tmp_path / "b", create=True)


@pytest.mark.parametrize("url", ["nonsense", "ghost://x/y"])
def test_a_database_url_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    with pytest.raises(StoreError, match="not a database URL"):
        Store.open(tmp_path / "a", create=True)
