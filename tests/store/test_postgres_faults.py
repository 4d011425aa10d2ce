"""A store outlives restarts of PostgreSQL and broken connections: commits happen exactly once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event

from store.cut_proxy import CutProxy
from store.test_postgres import fresh_url, restart, server
from store.views import damage
from store.worlds import World, planted
from worksample.errors import StoreError, StoreUnavailable
from worksample.records import Submission, Trial
from worksample.store import Store

pytestmark = pytest.mark.postgres
WORLD = World(repeats=15)
__all__ = ["server"]


@contextmanager
def store_over(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch, sleep: Any = lambda _: None) -> Iterator[Store]:
    """A planted store over a database, which waits for it without real pauses."""
    monkeypatch.setenv("WORKSAMPLE_DATABASE", url)
    with planted(Store.open(folder, create=True), WORLD) as store:
        store.patience.seconds, store.patience._sleep = 600, sleep
        yield store


@contextmanager
def terminating(store: Store, url: str, number: int) -> Iterator[list[int]]:
    """End the session of the `number`-th statement before it runs, as a restart does (57P01); yield the sessions."""
    ended: list[int] = []
    seen = [0]

    def before(connection: Any, *_: object) -> None:
        seen[0] += 1
        if seen[0] == number:
            pid = connection.connection.dbapi_connection.info.backend_pid
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
            ended.append(pid)

    event.listen(store.database.engine, "before_cursor_execute", before)
    try:
        yield ended
    finally:
        event.remove(store.database.engine, "before_cursor_execute", before)


def test_commit_outlives_the_end_of_its_session_at_any_statement(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fresh_url(server)
    with store_over(url, tmp_path / "s", monkeypatch) as store:
        for number in range(1, 60):
            trial = WORLD.trial(number, f"t{number}")
            lease = store.take(trial.slot, "me", 600)
            assert lease is not None
            with terminating(store, url, number) as ended, store.fence(lease):
                store.commit(trial, WORLD.submission(trial))
            if not ended:
                break
        assert number > 5  # so many statements were tried
        assert len(store.find(Trial, live=True)) == number
        assert damage(store, deep=True) == []


def test_commit_whose_answer_was_lost_is_not_done_twice(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[bytes] = []
    armed = threading.Event()

    def on_request(data: bytes) -> bool:
        if armed.is_set() and b"COMMIT" in data and len(lost) < 2:
            lost.append(data)
            return True
        return False

    direct = fresh_url(server)
    proxy = CutProxy(f"{server}/.s.PGSQL.5432", on_request)
    name = direct.partition("@/")[2].partition("?")[0]
    try:
        with store_over(f"postgresql://me@127.0.0.1:{proxy.port}/{name}", tmp_path / "s", monkeypatch) as store:
            lease = store.take(WORLD.slots[0].id, "me", 600)
            assert lease is not None
            trial, before = WORLD.trial(0, "t1"), len(store.objects.digests())
            armed.set()
            with store.fence(lease):
                store.commit(trial, WORLD.submission(trial))
            assert len(lost) == 2 and len(store.objects.digests()) == before + 1
            assert [t.id for t in store.find(Trial, live=True)] == ["t1"] == [s.trial for s in store.find(Submission)]
            assert store.keep(lease, 600) and damage(store, deep=True) == []
    finally:
        proxy.close()


def test_commits_and_leases_outlive_a_restart(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four threads commit and renew leases while the server restarts twice."""
    url, failures, half = fresh_url(server), [], threading.Barrier(5, timeout=60)
    with store_over(url, tmp_path / "s", monkeypatch, sleep=threading.Event().wait) as store:

        def work(me: int) -> None:
            try:
                for n in range(12):
                    if n in (4, 8):
                        half.wait()
                    lease = store.take(f"k{me}-{n}", f"owner{me}", 600)
                    assert lease is not None and store.keep(lease, 600)
                    with store.fence(lease):
                        store.commit(WORLD.trial(12 * me + n, f"t{me}-{n}"))
                    assert store.holder(lease.key) == f"owner{me}"
                    store.release(lease.key, f"owner{me}")
            except Exception as error:  # noqa: BLE001 - a thread's failure must reach the test
                failures.append(error)
                half.abort()

        threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            half.wait()
            restart(server)
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(store.find(Trial, live=True)) == 48 and damage(store, deep=True) == []


def test_database_that_is_gone_is_a_typed_error(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = CutProxy(f"{server}/.s.PGSQL.5432")
    name = fresh_url(server).partition("@/")[2].partition("?")[0]
    try:
        with store_over(f"postgresql://me@127.0.0.1:{proxy.port}/{name}", tmp_path / "s", monkeypatch) as store:
            store.patience.seconds = 0.05
            proxy.cut()
            with pytest.raises(StoreUnavailable, match="does not answer") as error:
                store.commit(WORLD.trial(0, "t1"))
            assert error.value.next and "me@127.0.0.1" in str(error.value.where)
            proxy.mend()
            store.commit(WORLD.trial(0, "t1"))
    finally:
        proxy.close()


def test_missing_database_is_refused_at_once(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_DATABASE", f"postgresql://me@/nobody?host={server}")
    with pytest.raises(StoreError, match="does not exist") as error:
        Store.open(tmp_path / "s", create=True)
    assert not isinstance(error.value, StoreUnavailable)
