"""Creation of the tables, and their upgrade to the present version.

Each table of the index is rebuilt from the records in its rows. Missing tables and indexes are created. Other changes
between two versions are functions in `_STEPS`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Column, Connection, MetaData, String, Table, create_mock_engine, inspect, select, text

from worksample.errors import StoreError
from worksample.records import from_envelope

from . import people_tables, schema
from .database import Database, Rivals
from .record_rows import Row, row

_AT_ONCE = 500
_OF_EVERY = ("id", "object", "schema_version", "body")


def renew(connection: Connection, kind: str) -> None:
    """Rebuild the table of a kind of record from its own rows. Live trials stay live, because no row is added or
    removed.
    """
    table = schema.TABLES[kind]
    kept = set_aside(connection, table)
    table.create(connection)
    before = Table(kept, MetaData(), *(Column(c.name, c.type) for c in table.c if c.name in _OF_EVERY))
    if kind == "trial":
        before.append_column(Column("live", Boolean))
    last = ""
    while rows := connection.execute(
        select(before).where(before.c.id > last).order_by(before.c.id).limit(_AT_ONCE)
    ).mappings().all():  # fmt: skip
        connection.execute(table.insert(), [_renewed_row(kind, dict(old)) for old in rows])
        last = rows[-1]["id"]
    connection.execute(text(f'DROP TABLE "{kept}"'))


def set_aside(connection: Connection, table: Table) -> str:
    """Rename a table, so that its new version can be created under the old name. Return the new name of the table."""
    kept = f"{table.name}_before"
    # Names of indexes and keys are unique in the whole database.
    for made in inspect(connection).get_indexes(table.name):
        connection.execute(text(f'DROP INDEX "{made["name"]}"'))
    key = inspect(connection).get_pk_constraint(table.name)["name"]
    connection.execute(text(f'ALTER TABLE "{table.name}" RENAME TO "{kept}"'))
    if key:
        connection.execute(text(f'ALTER TABLE "{kept}" RENAME CONSTRAINT "{key}" TO "{kept}_pkey"'))
    return kept


def _renewed_row(kind: str, old: Mapping[str, Any]) -> Row:
    envelope = {"kind": kind, "schema": old["schema_version"], "body": json.loads(old["body"])}
    made = row(from_envelope(envelope), old["object"])
    return {**made, "live": old["live"]} if "live" in old else made


_stamps = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""Table with the version of all tables. Its name is `alembic_version`, because Alembic created the first stores."""


def _forget_the_writer(connection: Connection) -> None:
    """Delete the row that older versions used as a lock between writers."""
    connection.execute(text("DELETE FROM meta WHERE key = 'writer'"))


def _number_the_owners(connection: Connection) -> None:
    """Add the column for generations to the leases, so that a lease after a takeover differs from the lease before."""
    table = schema.leases
    if any(column["name"] == "generation" for column in inspect(connection).get_columns(table.name)):
        return
    kept = set_aside(connection, table)
    table.create(connection)
    connection.execute(text(f"INSERT INTO leases SELECT key, owner, 1, expires FROM {kept}"))
    connection.execute(text(f"DROP TABLE {kept}"))


_STEPS: dict[str, Callable[[Connection], None]] = {"0005": _forget_the_writer, "0010": _number_the_owners}
"""Functions that upgrade tables that cannot be rebuilt from records, by the version that they upgrade to."""


def prepare(database: Database, store: str, *, lock: Path) -> bool:
    """Upgrade the database to the present version. Return True if the database was empty. `store` is the id of the
    store that the database must index.

    Raises StoreError if the database belongs to another store, or if a newer version of the package created it.
    """
    with _alone(lock), database.alone():
        found = _version(database)
        if found is None:
            _create(database, store)
            return True
        if found > schema.HEAD:
            raise StoreError(
                f"the store's index was made by a newer version (schema {found}; this one knows up to {schema.HEAD})",
                where=database.shown,
                next="pip install --upgrade worksample",
            )
        if found < schema.HEAD:
            _bring_up(database, found)
    with database.reading() as connection:
        owner = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == "store")).scalar()
    if owner != store:
        raise StoreError(
            "this database is the index of another store",
            where=database.shown,
            next="give each store a database of its own (WORKSAMPLE_DATABASE, or [database] url in store.toml)",
        )
    return False


def _version(database: Database) -> str | None:
    """Return the version of the tables; None if the database has no tables."""
    with database.reading() as connection:
        if not inspect(connection).has_table(_stamps.name):
            return None
        return connection.execute(select(_stamps.c.version_num)).scalar() or ""


def _create(database: Database, store: str) -> None:
    if database.sqlite:
        # The mode is stored in the file; SQLite requires this outside a transaction.
        raw = database.engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL")
        finally:
            raw.close()
    with database.writing(Rivals.LEASES) as connection:
        if inspect(connection).get_table_names():
            people_tables.EVERYTHING.create_all(connection)
        else:
            for statement in _statements(database.engine.url.drivername):
                connection.exec_driver_sql(statement)
        _stamps.create(connection)
        connection.execute(_stamps.insert().values(version_num=schema.HEAD))
        connection.execute(schema.meta.insert().values(key="store", value=store))


@cache
def _statements(driver: str) -> tuple[str, ...]:
    """Return the SQL statements that create all tables. The result is cached, because rendering the statements is
    slower than running them.
    """
    said: list[str] = []

    def take(statement: Any, *_: Any, **__: Any) -> None:
        said.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{driver}://", take)
    people_tables.EVERYTHING.create_all(engine, checkfirst=False)
    return tuple(said)


def _bring_up(database: Database, found: str) -> None:
    with database.writing(Rivals.LEASES) as connection:
        for kind, table in schema.TABLES.items():
            if inspect(connection).has_table(table.name):
                renew(connection, kind)
        people_tables.EVERYTHING.create_all(connection)
        for table in people_tables.EVERYTHING.tables.values():
            for made in table.indexes:
                made.create(connection, checkfirst=True)
        for version, step in _STEPS.items():
            if version > found:
                step(connection)
        connection.execute(_stamps.update().values(version_num=schema.HEAD))


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Exclude other processes of this machine during the block, by a lock on a file."""
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
