"""The same store on PostgreSQL. Starts a server of its own: `apt-get install postgresql`, then `pytest -m postgres`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given, settings

from store.test_processes import go, start
from store.views import everything, live
from store.worlds import World, histories, planted
from worksample.errors import RecordConflict, StoreError
from worksample.records import Record, Trial
from worksample.store import Store, check, merge, rebuild, schema

pytestmark = pytest.mark.postgres
WORLD = World()


def _as_user(*argv: object) -> None:
    """PostgreSQL's programs refuse to be run by root."""
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    subprocess.run([*user, *map(str, argv)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The folder of a running server's socket."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    home = Path(tempfile.mkdtemp(prefix="worksample-pg-"))
    if os.geteuid() == 0:
        shutil.chown(home, "postgres", "postgres")
    _as_user(programs / "initdb", "-D", home / "data", "-U", "me", "--auth=trust")
    options = f"-k {home} -c listen_addresses='' -c fsync=off"
    _as_user(programs / "pg_ctl", "-D", home / "data", "-w", "-l", home / "log", "-o", options, "start")
    try:
        yield str(home)
    finally:
        _as_user(programs / "pg_ctl", "-D", home / "data", "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


_numbers = iter(range(10_000))


def fresh_url(server: str) -> str:
    """A new database's URL."""
    name = f"db{next(_numbers)}"
    with psycopg.connect(f"host={server} user=me dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} LOCALE_PROVIDER icu ICU_LOCALE 'en' TEMPLATE template0")
    return f"postgresql://me@/{name}?host={server}"


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    made = fresh_url(server)
    monkeypatch.setenv("WORKSAMPLE_DATABASE", made)
    return made


def test_the_tables_are_those_of_the_metadata(url: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store, store.database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(WORLD))
def test_it_says_what_sqlite_says(
    server: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    history: list[list[Record]],
) -> None:
    folder = tmp_path_factory.mktemp("pg")
    monkeypatch.delenv("WORKSAMPLE_DATABASE", raising=False)
    with planted(Store.open(folder / "plain", create=True), WORLD) as plain:
        monkeypatch.setenv("WORKSAMPLE_DATABASE", fresh_url(server))
        with planted(Store.open(folder / "s", create=True), WORLD) as store:
            for records in history:
                plain.commit(*records)
                store.commit(*records)
            assert everything(store) == everything(plain)
            before = everything(store)
            rebuild(store)
            assert everything(store) == before
            assert [f.what for f in check(store)] == [f.what for f in check(plain)]
            merge(store, plain)
            assert everything(store) == before


def test_two_processes_that_finish_the_same_slots_leave_one_live_trial_in_each(url: str, tmp_path: Path) -> None:
    planted(Store.open(tmp_path / "s", create=True), WORLD).close()
    workers = [start(tmp_path / "s", name, 24) for name in ("a", "b")]
    for worker in workers:
        go(worker)
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert (worker.returncode, errors) == (0, "")
    with Store.open(tmp_path / "s") as store:
        assert len(store.find(Trial)) == 48
        assert live(store) == {slot.id: f"a{n}" for n, slot in enumerate(WORLD.slots)}
        assert check(store, deep=True) == []


def test_two_connections_cannot_both_take_an_id(url: str, tmp_path: Path) -> None:
    planted(Store.open(tmp_path / "s", create=True), WORLD).close()
    outcomes = []

    def work(steps: int) -> None:
        with Store.open(tmp_path / "s") as store:
            try:
                store.commit(WORLD.trial(0, "t1", steps=steps))
                outcomes.append("kept")
            except RecordConflict:
                outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["kept", "refused", "refused", "refused"]
    with Store.open(tmp_path / "s") as store:
        assert check(store) == []


def test_leases_and_another_stores_database(url: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        assert store.lease("k", "a", 60)
        assert not store.lease("k", "b", 60)
        store.release("k", "a")
        assert store.lease("k", "b", 60)
    with pytest.raises(StoreError, match="indexes another store"):
        Store.open(tmp_path / "t", create=True)


def test_a_server_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", "postgresql://me:secret@/none?host=/nowhere")
    with pytest.raises(StoreError, match="database failed") as caught:
        Store.open(tmp_path / "s", create=True)
    assert "secret" not in str(caught.value)
    assert caught.value.next
