"""Make the tables, or bring them to this version."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, exc, inspect, select

from worksample.errors import StoreError

from . import people_tables, schema
from .database import Database

_stamps = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def prepare(database: Database, store: str, *, lock: Path) -> bool:
    """Bring the database to this version; True where it was fresh. `store` is the id of the store it must index.

    Raises StoreError where it belongs to another store, or to a newer version of the package.
    """
    with _alone(lock):
        found = _version(database)
        if found is None:
            _create(database, store)
            return True
        if found != schema.HEAD:
            _migrate(database, found)
            with database.writing(bare=True) as connection:
                _mark(connection, store)
    with database.reading() as connection:
        owner = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == "store")).scalar()
    if owner != store:
        raise StoreError(
            "this database indexes another store",
            where=database.shown,
            next="give each store a database of its own (WORKSAMPLE_DATABASE, or [database] url in store.toml)",
        )
    return False


def _version(database: Database) -> str | None:
    """The migration it stands at; "" before the first; None for a database without tables of ours."""
    with database.reading() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(select(_stamps.c.version_num)).scalar() or ""


def _create(database: Database, store: str) -> None:
    if database.sqlite:
        # Kept in the file; outside a transaction, as SQLite asks.
        raw = database.engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL")
        finally:
            raw.close()
    with database.writing(bare=True) as connection:
        people_tables.EVERYTHING.create_all(connection)
        _stamps.create(connection, checkfirst=True)
        connection.execute(_stamps.insert().values(version_num=schema.HEAD))
        _mark(connection, store)


def _mark(connection: Connection, store: str) -> None:
    for key, value in (("store", store), ("writer", "")):
        if connection.execute(select(schema.meta.c.key).where(schema.meta.c.key == key)).first() is None:
            connection.execute(schema.meta.insert().values(key=key, value=value))


def _migrate(database: Database, found: str) -> None:
    """Run Alembic: slow to import, so only where a version differs."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    if found:
        try:
            ScriptDirectory.from_config(config).get_revision(found)
        except CommandError as e:
            raise StoreError(
                f"its index was made by a newer version (schema {found}; this one knows up to {schema.HEAD})",
                where=database.shown,
                next="pip install --upgrade worksample",
            ) from e
    try:
        with database.writing(bare=True) as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except exc.SQLAlchemyError as e:
        raise StoreError(f"the index cannot be upgraded: {e}", where=database.shown) from e


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Of the processes of this machine, one at a time."""
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
