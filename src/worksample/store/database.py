"""The database of a store: its connections, write transactions, the locks between transactions, and errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from enum import Enum, auto
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, text
from sqlalchemy.engine import make_url

from worksample.errors import StoreError
from worksample.extras import install_command

from .error_translation import store_full
from .event_loop_warning import warn_on_event_loop
from .faults import Patience, database_fault, with_patience
from .lease_fence import need_leases

BUSY_SECONDS = 60.0
"""Maximum time in seconds that a write waits for a write of another process."""
_SQLITE_FULL, _SQLITE_IOERR = 13, 10
_SERVER = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Settings of libpq with which the loss of a connection is noticed within 30 seconds. Settings in the URL take
precedence.
"""
_COLLISIONS = ("23505", "40001", "40P01")
"""PostgreSQL's error codes for a violated unique key, a serialisation failure and a deadlock."""


class Rivals(Enum):
    """Kinds of write transactions that a database server may run at the same time as a given transaction. SQLite has
    only one writer at a time.
    """

    ANY = auto()
    """All kinds of transactions may run at the same time. Used for single statements that their key protects, such as
    leases.
    """
    RECORDS = auto()
    """Commits and leases may run at the same time. Unique keys reveal if two commits write the same record."""
    LEASES = auto()
    """Only leases may run at the same time. Used if a transaction replaces rows of records, or writes so many rows that
    it cannot lock each one.
    """
    NO_DESK = auto()
    """Commits and leases may run at the same time, but no second transaction of this kind. Used to read accounts,
    queues and drafts and then change them.
    """


class Collided(StoreError):
    """Failure of a transaction because of a concurrent transaction. It wrote nothing. The caller reads again and
    retries.
    """


class Database:
    """Database of a store, accessed by a SQLAlchemy engine. The URL is `sqlite:///PATH` or `postgresql://...`."""

    def __init__(self, url: str, patience: Patience | None = None) -> None:
        """Create the engine for a URL. `patience` determines how long to wait for a server that does not answer."""
        self.patience = patience or Patience()
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
            raise StoreError(
                f"this is not a database URL: {e}", next="export WORKSAMPLE_DATABASE=postgresql://..."
            ) from e
        except ImportError as e:
            next = install_command("postgres")
            raise StoreError(
                f"the driver for this database is not installed: {e}", where=url.rpartition("@")[2], next=next
            ) from e
        self._owner = os.getpid()
        self._turn = threading.Lock()
        self._kept: dict[bool, list[Connection]] = {False: [], True: []}
        self._driver: type[Exception] = self.engine.dialect.loaded_dbapi.Error

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that reads a consistent snapshot. Raises StoreError if the database fails."""
        warn_on_event_loop()
        self._after_fork()
        with self._faults(), self._lent(write=False) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, rivals: Rivals = Rivals.NO_DESK, *, fenced: bool = True) -> Iterator[Connection]:
        """Open a transaction that commits at the end of the block. `rivals` names the kinds of transactions that may
        run at the same time.

        A transaction on records or people's work requires all leases of the enclosing `require_lease` blocks, unless
        `fenced` is False. Raises Superseded if such a lease was lost, Collided if a concurrent transaction was faster,
        StoreFull if the disk is full, and StoreError for other failures.
        """
        warn_on_event_loop()
        self._after_fork()
        # With SQLite, threads queue for this fair lock, because SQLite itself polls for its lock.
        turn = self._turn if self.sqlite else nullcontext()
        with turn, self._faults(), self._lent(write=True) as connection, connection.begin():
            if rivals is Rivals.NO_DESK:
                hold(connection, ["desk"])
            if rivals is not Rivals.ANY:
                hold(connection, ["records"], shared=rivals is not Rivals.LEASES)
                if fenced:
                    need_leases(self, connection)
            yield connection
            _need_whole(connection)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude all other processes from a server's database during the block, whatever tables exist. Raises
        StoreError if the database fails.
        """
        if self.sqlite:
            yield
            return
        with self._faults(), self._connect() as guard, guard.begin():
            hold(guard, ["tables"])
            yield

    @contextmanager
    def _lent(self, *, write: bool) -> Iterator[Connection]:
        """Lend a connection that is outside any transaction.

        Connections to a database file stay open for the next caller, because taking one from the pool costs as much
        time as five statements. Connections to a server return to the pool, which checks that they are alive.
        """
        kept = self._kept[write]
        try:
            connection = kept.pop()
        except IndexError:
            connection = self._connect().execution_options(worksample_write=write)
        sound = False
        try:
            yield connection
            sound = True
        finally:
            if sound and self.sqlite:
                kept.append(connection)
            else:
                connection.close()

    @with_patience
    def _connect(self) -> Connection:
        """Return a connection that was just checked to be alive."""
        with self._faults():
            return self.engine.connect()

    def _after_fork(self) -> None:
        """Discard the state that a forked child process inherited. The child must not use its parent's connections, and
        must not wait for its parent's threads.
        """
        if os.getpid() != self._owner:
            self.engine.dispose(close=False)
            # Keep a reference, so that garbage collection does not close the parent's connections.
            self._parents = self._kept
            self._kept = {False: [], True: []}
            self._owner, self._turn = os.getpid(), threading.Lock()

    def close(self) -> None:
        for kept in self._kept.values():
            while kept:
                kept.pop().close()
        self.engine.dispose()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except exc.DBAPIError as e:
            raise self._fault(e.orig) from e
        except self._driver as e:
            raise self._fault(e) from e

    def _fault(self, e: BaseException | None) -> StoreError:
        code = getattr(e, "sqlite_errorcode", 0) & 0xFF
        said = str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__
        state = getattr(e, "sqlstate", None)
        if state in _COLLISIONS:
            return Collided(f"another process wrote the same row: {said}", where=self.shown, next="try again")
        if code == _SQLITE_FULL or state == "53100":
            return store_full(self.shown)
        if code == _SQLITE_IOERR and self.path and _no_room(self.path):
            return store_full(self.shown)
        if code in (11, 26):
            next = f"rm {self.path}*   (it is rebuilt from records/ when the store is opened)"
            return StoreError(f"the index is damaged: {said}", where=self.shown, next=next)
        if code in (5, 6):
            return StoreError(
                "the database stayed locked by other runs",
                where=self.shown,
                next="run the same command again when other runs write less",
            )
        if not self.sqlite and e is not None and (fault := database_fault(e, self.shown)) is not None:
            return fault
        return StoreError(f"the database failed: {said}", where=self.shown, next="worksample store check")


_LOCK = text("SELECT pg_advisory_xact_lock(:number)")
_LOCK_SHARED = text("SELECT pg_advisory_xact_lock_shared(:number)")


def hold(connection: Connection, names: Iterable[str], *, shared: bool = False) -> None:
    """Lock these names until the transaction ends. Wait if another transaction has locked one of the names.

    On SQLite this function does nothing, because a writer excludes all other writers.
    """
    if connection.dialect.name == "sqlite":
        return
    for number in sorted({_number(name) for name in names}):
        connection.execute(_LOCK_SHARED if shared else _LOCK, {"number": number})


def _need_whole(connection: Connection) -> None:
    """Raise StoreError if a statement of the transaction failed, even if the caller caught the statement's error.
    Otherwise PostgreSQL would roll back the whole transaction without an error.
    """
    if connection.dialect.name == "sqlite":
        return
    driver: Any = connection.connection.dbapi_connection
    if driver.info.transaction_status.name == "INERROR":
        raise StoreError("the database rejected a statement, so the transaction was rolled back", next="try again")


def _number(name: str) -> int:
    return int.from_bytes(sha256(f"worksample {name}".encode()).digest()[:8], "big", signed=True)


def _no_room(path: str) -> bool:
    info = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
    return info.f_bavail * info.f_frsize < 1 << 20


def _engine(url: Any, sqlite: bool) -> Engine:
    if not sqlite:
        settings = {name: value for name, value in _SERVER.items() if name not in url.query}
        return create_engine(url, pool_pre_ping=True, max_overflow=-1, connect_args=settings)
    # Keep all connections that were in use at once: for a file, keeping is cheaper than opening.
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=16, max_overflow=-1)

    @event.listens_for(engine, "connect")
    def _on_connect(raw: Any, _: Any) -> None:
        # `_on_begin` begins transactions explicitly, instead of the driver.
        raw.isolation_level = None
        # Rows lost in a power cut are replayed from the objects, so the log need not be synced.
        raw.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("worksample_write")
        raw: Any = connection.connection.dbapi_connection
        raw.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine
