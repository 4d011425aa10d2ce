"""The store on PostgreSQL. Starts its own server: `apt-get install postgresql`, then `pytest -m postgres`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from forking.child import Talking
from running.profiles import examples, is_quick_run
from store import test_lease_fencing
from store.older_stores import VERSIONS, is_whole, unpack
from store.slow_files import Gate, SlowFiles
from store.test_concurrent_processes import go, start
from store.test_many_machines import (
    during,
    heartbeat,
    notes_of_one_thing_agree,
    one_live_trial_per_slot,
    overlap,
    rivals_are_told_apart,
    together,
)
from store.views import damage, everything, live
from store.worlds import World, histories, planted
from worksample.errors import RecordConflict, StoreError
from worksample.records import AmendmentTarget, Record, Trial
from worksample.store import Store, check, merge, rebuild
from worksample.store.database import Database, Rivals

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


def restart(server: str) -> None:
    """Restart the server, which ends all sessions."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    _as_user(programs / "pg_ctl", "-D", f"{server}/data", "-w", "-l", f"{server}/log", "-m", "fast", "restart")


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


def outline(url: str) -> list[tuple[object, ...]]:
    """Every column and index of a database."""
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'public' ORDER BY 1, 2"
        ).fetchall()
        return (
            columns
            + connection.execute(
                "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"
            ).fetchall()
        )


def all_end_well(workers: list[Talking]) -> None:
    for worker in workers:
        go(worker)
    assert [(w.communicate(timeout=120)[1], w.returncode) for w in workers] == [("", 0)] * len(workers)


@pytest.mark.quick("0001")
@pytest.mark.parametrize("version", VERSIONS)
def test_store_of_an_older_version_is_opened(
    server: str, tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, url = fresh_url(server), fresh_url(server)
    monkeypatch.setenv("WORKSAMPLE_DATABASE", fresh)
    Store.open(tmp_path / "fresh", create=True).close()
    lines = unpack(version, "pg", tmp_path / "s")
    with psycopg.connect(url) as connection:
        connection.execute("\n".join(lines))
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    is_whole(tmp_path / "s", version)
    assert outline(url) == outline(fresh)


def test_concurrent_processes_open_a_fresh_store(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As several machines do: each has a folder of its own, and so no lock of this machine in common."""
    for n in range(1 if is_quick_run() else 2):
        monkeypatch.setenv("WORKSAMPLE_DATABASE", fresh_url(server))
        folders = [tmp_path / f"{n}{name}" for name in "abcd"]
        for folder in folders:
            folder.mkdir()
            (folder / "store.toml").write_text('format = 1\nid = "one"\n')
        all_end_well([start(folder, folder.name, 0) for folder in folders])


def test_tables_are_created_by_one_process_at_a_time(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fresh_url(server)
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    waiting = "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database WHERE NOT granted AND datname = %s"
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    opener = threading.Thread(target=lambda: Store.open(tmp_path / "s", create=True).close())
    with psycopg.connect(url, autocommit=True) as looking:
        name = looking.info.dbname
        with Database(url).alone():
            opener.start()
            while opener.is_alive() and looking.execute(waiting, [name]).fetchone() == (0,):
                opener.join(0.01)
            assert opener.is_alive() and looking.execute(tables).fetchall() == []
        opener.join()
        assert ("meta",) in looking.execute(tables).fetchall()


@pytest.mark.thorough(quick="store/test_postgres.py::test_concurrent_processes_open_a_fresh_store")
def test_concurrent_processes_upgrade_a_store(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = fresh_url(server)
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    folders = [tmp_path / name for name in "abcd"]
    with planted(Store.open(folders[0], create=True), WORLD) as store:
        store.commit(WORLD.trial(0, "t1"), WORLD.trial(1, "t2"), WORLD.amend(AmendmentTarget.TRIAL, "t2", 5))
        before, lives, fresh = everything(store), live(store), outline(url)
    for folder in folders[1:]:
        shutil.copytree(folders[0], folder)
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE capabilities")
        connection.execute("DROP INDEX items_that_are_free, one_live_trial")
        connection.execute("ALTER TABLE trials ADD COLUMN bygone text, DROP COLUMN phases")
        connection.execute("INSERT INTO meta VALUES ('writer', '')")
        connection.execute("UPDATE alembic_version SET version_num = '0002'")
    all_end_well([start(folder, folder.name, 0) for folder in folders])
    assert outline(url) == fresh
    with Store.open(folders[0]) as store:
        assert (everything(store), live(store)) == (before, lives)
        assert damage(store) == []


@pytest.fixture
def far(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store whose objects lie far away, over a server's database."""
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "cache"))
    usual = SlowFiles.during
    during(lambda operation, path: None)
    yield f"slow://{tmp_path}/far"
    during(usual)


def test_commits_over_a_slow_store_overlap(far: str) -> None:
    with planted(Store.open(far, create=True), WORLD) as store:
        overlap(store)


def test_heartbeat_waits_for_no_object(far: str) -> None:
    with planted(Store.open(far, create=True), WORLD) as store:
        gate = Gate()
        during(gate)
        heartbeat(store, gate)


@pytest.mark.parametrize("races", [rivals_are_told_apart, one_live_trial_per_slot])
def test_races_between_machines_lose_nothing(far: str, races: Callable[[Store, list[Store]], None]) -> None:
    with planted(Store.open(far, create=True), WORLD) as store:
        others = [Store.open(far) for _ in range(3)]
        races(store, others)
        for other in others:
            other.close()


def test_two_equal_notes_agree(far: str) -> None:
    with planted(Store.open(far, create=True), WORLD) as store, Store.open(far) as other:
        notes_of_one_thing_agree(store, other)


def test_heartbeat_does_not_wait_for_commits_in_progress(url: str, tmp_path: Path) -> None:
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store, store.database.writing() as connection:
        connection.execute(text("SELECT 1"))
        assert store.lease("k", "a", 600) and store.renew("k", "a", 600)
        store.commit(WORLD.trial(0, "t1"))


def test_one_of_many_takers_gets_a_lease(url: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        for n in range(20):
            works = [lambda n=n, me=me: store.lease(f"k{n}", f"o{me}", 600) for me in range(8)]  # type: ignore[misc]
            taken = together(*works)
            assert sorted(map(str, taken)) == ["False"] * 7 + ["True"]
            assert store.holder(f"k{n}") == f"o{taken.index(True)}"


FENCE = sorted(name for name in vars(test_lease_fencing) if name.startswith("test_"))


@pytest.mark.parametrize("name", FENCE)
def test_fencing_holds_on_postgres(url: str, tmp_path: Path, name: str) -> None:
    with planted(Store.open(tmp_path / "s", create=True), test_lease_fencing.WORLD) as store:
        getattr(test_lease_fencing, name)(store)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(WORLD))
def test_results_equal_those_of_sqlite(
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


def test_two_processes_that_finish_equal_slots_leave_one_live_trial_each(url: str, tmp_path: Path) -> None:
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
        assert damage(store, deep=True) == []


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
        assert damage(store) == []


def test_refused_statement_takes_no_other_with_it(url: str, tmp_path: Path) -> None:
    with planted(Store.open(tmp_path / "s", create=True), WORLD) as store:
        with pytest.raises(StoreError, match="the transaction was rolled back"), store.database.writing() as one:
            one.execute(text("INSERT INTO meta VALUES ('told', 'done')"))
            with pytest.raises(DBAPIError):
                one.execute(text("SELECT 1 / 0"))
        told, refused = threading.Event(), threading.Event()

        def fails() -> None:
            with pytest.raises(StoreError, match="division by zero"), store.database.writing(Rivals.RECORDS) as other:
                other.execute(text("INSERT INTO meta VALUES ('other', '')"))
                told.wait(60)
                other.execute(text("SELECT 1 / 0"))
            refused.set()

        beside = threading.Thread(target=fails)
        beside.start()
        with store.database.writing(Rivals.RECORDS) as one:
            one.execute(text("INSERT INTO meta VALUES ('first', '')"))
            told.set()
            assert refused.wait(60)
        store.commit(WORLD.trial(0, "t1"))
        beside.join()
        with store.database.reading() as connection:
            kept = set(connection.execute(text("SELECT key FROM meta")).scalars())
        assert "first" in kept and not kept & {"told", "other"}
        assert [t.id for t in store.find(Trial)] == ["t1"]


def test_leases_and_foreign_databases_are_refused(url: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        assert store.lease("k", "a", 60)
        assert not store.lease("k", "b", 60)
        store.release("k", "a")
        assert store.lease("k", "b", 60)
    with pytest.raises(StoreError, match="is the index of another store"):
        Store.open(tmp_path / "t", create=True)


def test_missing_server_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", "postgresql://me:secret@/none?host=/nowhere")
    with pytest.raises(StoreError, match="does not answer") as caught:
        Store.open(tmp_path / "s", create=True)
    assert "secret" not in str(caught.value)
    assert caught.value.next
