"""`Database.shared`: what one thread does is one transaction, and who fails in it fails alone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from worksample.errors import StoreError, UsageError
from worksample.store import Store
from worksample.store.people_tables import activity

_ids = select(activity.c.id).order_by(activity.c.id)


def note(connection: Connection, id: str) -> None:
    row = {"id": id, "account": "a", "item": None, "kind": "k", "note": "n", "at": 0}
    connection.execute(activity.insert().values(row))


def known(store: Store) -> list[str]:
    with store.database.reading() as connection:
        return list(connection.execute(_ids).scalars())


def elsewhere(store: Store) -> list[str]:
    """What another thread sees."""
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(known(store)))
    thread.start()
    thread.join()
    return found


def tells_its_own_from_others(store: Store) -> None:
    """For SQLite here, for PostgreSQL in its own tests."""
    database = store.database
    with database.shared():
        with database.writing() as connection:
            note(connection, "one")
        with pytest.raises(UsageError, match="refused"), database.writing() as connection:
            note(connection, "two")
            raise UsageError("refused")
        with database.writing() as connection:
            note(connection, "three")
        assert known(store) == ["one", "three"] and elsewhere(store) == []
    assert known(store) == elsewhere(store) == ["one", "three"]
    with pytest.raises(KeyError), database.shared():
        with database.writing() as connection:
            note(connection, "four")
        raise KeyError
    assert known(store) == ["one", "three"]
    # A statement that the database refuses is undone with the rest of its own `writing`.
    with database.shared():
        with pytest.raises(StoreError), database.writing() as connection:
            note(connection, "five")
            note(connection, "one")
        with database.writing() as connection:
            note(connection, "six")
    assert known(store) == ["one", "six", "three"]


def test_it_is_kept_at_the_end_and_who_fails_fails_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        tells_its_own_from_others(store)


def test_other_writers_wait_for_its_end(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        order: list[str] = []
        inside = threading.Event()

        def other() -> None:
            inside.set()
            with store.database.writing():
                order.append("other")

        thread = threading.Thread(target=other)
        with store.database.shared():
            thread.start()
            assert inside.wait(120)
            with store.database.writing() as connection:
                note(connection, "one")
            order.append("first")
        thread.join()
        assert order == ["first", "other"]
