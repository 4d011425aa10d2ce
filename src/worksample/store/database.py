"""One connection pool per store, write transactions that exclude each other, and the database's own failures."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, select
from sqlalchemy.engine import make_url

from worksample.errors import StoreError

from . import schema
from .faults import full

BUSY_SECONDS = 60.0
"""How long a write waits for another process's write."""
_SQLITE_FULL, _SQLITE_IOERR = 13, 10


class Database:
    """A SQLAlchemy engine by URL; `sqlite:///PATH` or `postgresql://...`."""

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
            if parsed.drivername in {"postgresql", "postgres"}:
                parsed = parsed.set(drivername="postgresql+psycopg")
            self.shown = parsed.render_as_string(hide_password=True)
            self.sqlite = parsed.get_backend_name() == "sqlite"
            self.path = parsed.database if self.sqlite else None
            self.url = parsed
            self.engine = _engine(parsed, self.sqlite)
        except exc.ArgumentError as e:
            raise StoreError(f"not a database URL: {e}", next="export WORKSAMPLE_DATABASE=postgresql://...") from e
        except ImportError as e:
            next = "pip install 'worksample[postgres]'"
            raise StoreError(f"no driver for this database: {e}", where=url.rpartition("@")[2], next=next) from e
        self._owner = os.getpid()
        self._turn = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view. Raises StoreError."""
        self._after_fork()
        with self._faults(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, *, bare: bool = False) -> Iterator[Connection]:
        """A transaction that no other writer overlaps, committed at the end of the block. Raises StoreFull, StoreError.

        `bare`: while the tables are being made, when there is no row to lock yet.
        """
        self._after_fork()
        # Threads queue here, where waiting is fair, and not inside SQLite, which polls.
        with self._turn, self._faults(), self.engine.connect() as connection:
            connection = connection.execution_options(worksample_write=True)
            with connection.begin():
                if not self.sqlite and not bare:
                    meta = schema.meta
                    connection.execute(select(meta.c.value).where(meta.c.key == "writer").with_for_update())
                yield connection

    def _after_fork(self) -> None:
        """A forked child must not talk over its parent's connections, nor wait for its parent's threads."""
        if os.getpid() != self._owner:
            self.engine.dispose(close=False)
            self._owner, self._turn = os.getpid(), threading.Lock()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except exc.DBAPIError as e:
            raise self._fault(e) from e

    def _fault(self, e: exc.DBAPIError) -> StoreError:
        code = getattr(e.orig, "sqlite_errorcode", 0) & 0xFF
        text = str(e.orig).strip().splitlines()[0] if str(e.orig).strip() else type(e.orig).__name__
        if code == _SQLITE_FULL or getattr(e.orig, "sqlstate", None) == "53100":
            return full(self.shown)
        if code == _SQLITE_IOERR and self.path and _no_room(self.path):
            return full(self.shown)
        if code in (11, 26):
            next = f"rm {self.path}*   (it is made anew from records/ when the store is opened)"
            return StoreError(f"the index is damaged: {text}", where=self.shown, next=next)
        if code in (5, 6):
            return StoreError(
                "the database stayed busy", where=self.shown, next="try again when other runs are quieter"
            )
        return StoreError(f"the database failed: {text}", where=self.shown, next="worksample store check")


def _no_room(path: str) -> bool:
    info = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
    return info.f_bavail * info.f_frsize < 1 << 20


def _engine(url: Any, sqlite: bool) -> Engine:
    if not sqlite:
        return create_engine(url, pool_pre_ping=True, max_overflow=-1)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, max_overflow=-1)

    @event.listens_for(engine, "connect")
    def _connected(raw: Any, _: Any) -> None:
        # Transactions are begun below, in plain sight, and not by the driver.
        raw.isolation_level = None
        # The objects are the truth: a row lost in a power cut is replayed, so the log need not be synced.
        raw.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        write = connection.get_execution_options().get("worksample_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine
